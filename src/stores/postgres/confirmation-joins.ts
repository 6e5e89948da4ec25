/** From rows `i` with the ids of confirmations to everything about them. */
export const WITH_CALL_AND_SESSION: string =
  "join countersign.confirmations c on c.id = i.id join countersign.calls k on k.id = c.call " +
  "join countersign.sessions s on s.key = c.session";
