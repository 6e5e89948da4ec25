/** From a confirmation `c` to its call `k` and its session `s`, in this order. */
export const CALL_AND_SESSION =
  "cross join calls k on k.id = c.call cross join sessions s on s.key = c.session ";
