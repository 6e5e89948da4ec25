import type { Decider } from "../decisions/index.ts";
import { type Draft, type Snapshot, transact } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import type { VoteDelegation } from "../people/index.ts";
import { actor, diaryDraft, diaryOf } from "./diary.ts";
import { DELEGATION, fromItem } from "./item.ts";
import { allDelegations } from "./read.ts";
import { type DelegationRefusal, refuse, rightTo } from "./rights.ts";

export type RevokedDelegation =
  | { readonly ok: true; readonly delegation: VoteDelegation }
  | DelegationRefusal;

/**
 * Revokes a delegation. Votes that were given by it, on questions whose call has not started, do not count any more. The
 * delegator and operators may revoke it, and the delegate may give it back.
 */
export async function revokeDelegation(
  parts: EngineParts,
  id: string,
  decider: Decider,
): Promise<RevokedDelegation> {
  const first = await find(parts, id);
  if (first === undefined) return unknown(id);
  return transact<RevokedDelegation>(parts, { session: diaryOf(first.from) }, async (snapshot) => {
    const delegation = await find(parts, id);
    if (delegation === undefined) return { value: unknown(id) };
    const { from, to } = delegation;
    const refused = rightTo(decider.by, from);
    if (refused !== undefined && rightTo(decider.by, to) !== undefined) return { value: refused };
    const draft = revocation(parts, { snapshot, delegation, decider });
    return { draft, value: { ok: true, delegation } };
  });
}

/** Revokes all delegations: after a restore, one that was revoked since the backup would stand again. */
export async function revokeAllDelegations(parts: EngineParts, decider: Decider): Promise<void> {
  for (const { id, from } of await allDelegations(parts.ledger)) {
    await transact<void>(parts, { session: diaryOf(from) }, async (snapshot) => {
      const delegation = await find(parts, id);
      if (delegation === undefined) return { value: undefined };
      return { draft: revocation(parts, { snapshot, delegation, decider }), value: undefined };
    });
  }
}

interface Revoking {
  readonly snapshot: Snapshot | undefined;
  readonly delegation: VoteDelegation;
  readonly decider: Decider;
}

function revocation(parts: EngineParts, { snapshot, delegation, decider }: Revoking): Draft {
  const { id, from, to, version } = delegation;
  const draft = diaryDraft(parts, snapshot, from);
  draft.write({ kind: "item", item: { kind: DELEGATION, id }, read: version });
  return draft.journal("delegation-revoked", { delegation: id, from, to, ...actor(decider) });
}

async function find({ ledger }: EngineParts, id: string): Promise<VoteDelegation | undefined> {
  const item = await ledger.items.get(DELEGATION, id);
  return item && fromItem(item);
}

function unknown(id: string): DelegationRefusal {
  return refuse("unknown-delegation", `There is no delegation ${id}, or it is over.`);
}
