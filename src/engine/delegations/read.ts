import { CountersignError } from "../../protocol/index.ts";
import type { Draft, Ledger, Vote } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import type { Counting, Ruled, VoteDelegation } from "../people/index.ts";
import { DELEGATION, delegationMac, fromItem, toItem } from "./item.ts";

/** So many are read at once: whoever counts votes needs them all. */
const MOST_READ = 1_000;

/** All delegations that stand by the ledger's clock. Signatures are not checked: to show them, not to count with them. */
export async function allDelegations(ledger: Pick<Ledger, "items">): Promise<readonly VoteDelegation[]> {
  const page = await ledger.items.list(DELEGATION, { limit: MOST_READ });
  // Fewer would make persons of people who are one.
  if (page.next !== undefined)
    throw new CountersignError("internal", `The ledger has more than ${MOST_READ} delegations.`);
  return page.items.flatMap((item) => fromItem(item) ?? []);
}

/** With what the votes on a question are counted now. Delegations matter only where a rule names people. */
export function countingFor(
  parts: EngineParts,
  { requirements }: Pick<Ruled, "requirements">,
  now: number,
): Counting | Promise<Counting> {
  const { directory } = parts;
  if (requirements.every(({ from }) => from === "requester")) return { directory, now };
  return genuine(parts).then((delegations) => ({ directory, now, delegations }));
}

async function genuine(parts: EngineParts): Promise<readonly VoteDelegation[]> {
  const { secret, ledger } = parts;
  const all = await allDelegations(ledger);
  return secret === undefined ? all : all.filter((one) => one.mac === delegationMac(secret, one));
}

/** Has the commit refused if a delegation that one of these votes relies on is revoked, or over, by then. */
export function relyOnDelegations(
  draft: Draft,
  votes: readonly Pick<Vote, "delegated">[],
  { delegations = [] }: Counting,
): void {
  const used = new Set(votes.map(({ delegated }) => delegated?.delegation));
  for (const one of delegations)
    if (used.has(one.id)) draft.write({ kind: "item", item: toItem(one), read: one.version });
}
