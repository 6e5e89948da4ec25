import type { Confirmation } from "../../api/types.ts";

/** What to keep where lists and the stream tell of it again with long values cut: the whole, if it is still the same. */
export function keepWhole(known: Confirmation | undefined, told: Confirmation): Confirmation {
  if (told.truncated !== true || known === undefined || known.truncated === true) return told;
  const isSame =
    known.version === told.version &&
    known.digest === told.digest &&
    known.status === told.status &&
    known.execution?.attempt === told.execution?.attempt;
  if (!isSame) return told;
  // These change while the rest stays the same, and are never cut where they are shown.
  const { can, votes, requirements, seen } = told;
  return { ...known, can, votes, requirements, ...(seen === undefined ? {} : { seen }) };
}
