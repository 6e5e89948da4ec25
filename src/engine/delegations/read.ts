import type { Draft, Ledger, Page, StoredItem, Vote } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import type { Counting, Ruled, VoteDelegation } from "../people/index.ts";
import { DELEGATION, delegationMac, fromItem, toItem } from "./item.ts";

/** How many are read at once. */
const PAGE = 1_000;

/** All delegations in force by the ledger's clock. Signatures are not checked: use it to show them, not to count votes. */
export async function allDelegations(ledger: Pick<Ledger, "items">): Promise<readonly VoteDelegation[]> {
  const all: VoteDelegation[] = [];
  let cursor: string | undefined;
  // Counting votes needs all of them.
  do {
    const after = cursor === undefined ? {} : { cursor };
    const page: Page<StoredItem> = await ledger.items.list(DELEGATION, { limit: PAGE, ...after });
    all.push(...page.items.flatMap((item) => fromItem(item) ?? []));
    cursor = page.next;
  } while (cursor !== undefined);
  return all;
}

/** With what the votes on a question are counted now. Delegations matter only where a rule names people. */
export function countingFor(
  parts: EngineParts,
  { requirements, escalations = [] }: Pick<Ruled, "requirements" | "escalations">,
  now: number,
): Counting | Promise<Counting> {
  const { directory } = parts;
  const isOwn = requirements.every(({ from }) => from === "requester") && escalations.length === 0;
  if (isOwn) return { directory, now };
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
