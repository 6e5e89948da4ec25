import type { ErrorCode } from "../../protocol/index.ts";
import { sessionOf } from "../common/index.ts";
import type { Decider } from "../decisions/index.ts";
import {
  type ConfirmationRecord,
  Draft,
  type GrantRecord,
  type GrantRevocation,
  isShared,
  pagesOf,
  type SessionRecord,
  transact,
} from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { changeGrant } from "./grant-mac.ts";
import { mayRevoke } from "./list.ts";
import { sharedGrant } from "./shared.ts";

/** A revoked grant. It is not used by any later commit, in any process. */
export interface Revoked {
  readonly ok: true;
  readonly grant: GrantRecord;
  readonly session: SessionRecord;
  /** Somebody had revoked it before. */
  readonly repeated: boolean;
}

export interface RevokeRefusal {
  readonly ok: false;
  readonly code: ErrorCode;
  readonly message: string;
}

/** Revokes a grant. Those who may decide such a call may, and operators. What it let start is not stopped. */
export async function revokeGrant(
  parts: EngineParts,
  id: string,
  { by, via, reason }: Decider & { readonly reason?: string },
): Promise<Revoked | RevokeRefusal> {
  return transact<Revoked | RevokeRefusal>(parts, { sessionKey: sessionOf(id) }, async (snapshot) => {
    const unknown = refusal("unknown-grant", `There is no grant ${id}, or it was over long ago.`);
    if (snapshot === undefined) return { value: unknown };
    const { session, now } = snapshot;
    const draft = new Draft(parts, now, session);
    const grant = await findGrant(parts, draft, id);
    if (grant === undefined) return { value: unknown };
    if (!mayRevoke(grant, by, { directory: parts.directory, now }))
      return { value: refusal("not-an-approver", `${by.id} may not revoke the grant ${id}.`) };
    if (grant.revoked !== undefined) return { value: { ok: true, grant, session, repeated: true } };
    const revoked = { at: now, ...actedBy({ by, via }), ...(reason === undefined ? {} : { reason }) };
    return {
      draft,
      value: { ok: true, grant: writeRevocation(parts, draft, grant, revoked), session, repeated: false },
    };
  });
}

/** The grant, of the session or given in it across sessions, as the draft has it then. */
async function findGrant(parts: EngineParts, draft: Draft, id: string): Promise<GrantRecord | undefined> {
  const own = draft.grants.find((one) => one.id === id);
  if (own !== undefined) return own;
  const shared = await sharedGrant(parts, id);
  if (shared !== undefined) draft.addShared(shared);
  return shared;
}

/** Revokes all grants of the ledger that are not over, and says how many. */
export async function revokeAll(parts: EngineParts, why: Omit<GrantRevocation, "at">): Promise<number> {
  return revokeEach(parts, why, () => true);
}

/** Revokes all grants across sessions that are not over. */
export async function revokeAllShared(parts: EngineParts, why: Omit<GrantRevocation, "at">): Promise<void> {
  await revokeEach(parts, why, ({ limits }) => isShared(limits));
}

async function revokeEach(
  parts: EngineParts,
  why: Omit<GrantRevocation, "at">,
  where: (grant: GrantRecord) => boolean,
): Promise<number> {
  let count = 0;
  for await (const items of pagesOf((page) => parts.ledger.grants({ ...page, where }), PAGE)) {
    const own = items.filter(({ grant }) => !isShared(grant.limits));
    for (const session of new Set(own.map(({ session: { key } }) => key)))
      count += await revokeAllIn(parts, session, why);
    for (const { grant } of items)
      if (isShared(grant.limits)) count += await revokeOneShared(parts, grant.id, why);
  }
  return count;
}

async function revokeOneShared(
  parts: EngineParts,
  id: string,
  why: Omit<GrantRevocation, "at">,
): Promise<number> {
  return transact<number>(parts, { sessionKey: sessionOf(id) }, async (snapshot) => {
    const grant = await sharedGrant(parts, id);
    if (snapshot === undefined || grant === undefined || grant.revoked !== undefined) return { value: 0 };
    const draft = new Draft(parts, snapshot.now, snapshot.session);
    draft.addShared(grant);
    writeRevocation(parts, draft, grant, { ...why, at: snapshot.now });
    return { draft, value: 1 };
  });
}

const PAGE = 200;

/** Revokes all grants of a session that are not over, and says how many. */
export async function revokeAllIn(
  parts: EngineParts,
  session: string,
  why: Omit<GrantRevocation, "at">,
): Promise<number> {
  return transact<number>(parts, { sessionKey: session }, (snapshot) => {
    const draft = snapshot && new Draft(parts, snapshot.now, snapshot.session);
    const live = (draft?.grants ?? []).filter(({ revoked }) => revoked === undefined);
    if (draft === undefined || live.length === 0) return { value: 0 };
    for (const grant of live) writeRevocation(parts, draft, grant, { ...why, at: draft.now });
    return { draft, value: live.length };
  });
}

/** Revokes what rests on an approval that is withdrawn, in the same commit. */
export function revokeGrantsOf(
  parts: EngineParts,
  draft: Draft,
  { id }: Pick<ConfirmationRecord, "id">,
  decider: Decider | undefined,
): void {
  const reason = "the approval that gave it was withdrawn";
  revokeWhere(parts, draft, ({ confirmation }) => confirmation === id, { reason, ...actedBy(decider) });
}

/** Revokes what the draft's grants allow for a tool of which somebody has just denied a call, in the same commit. */
export function revokeGrantsFor(
  parts: EngineParts,
  draft: Draft,
  denied: Pick<ConfirmationRecord, "tool">,
  decider: Decider,
): void {
  const reason = "a call of the tool was denied";
  revokeWhere(parts, draft, ({ tool }) => tool === denied.tool, { reason, ...actedBy(decider) });
}

/** Revokes the grants across sessions that were given in a session which is erased, in the same commit. */
export function revokeErased(parts: EngineParts, draft: Draft): void {
  revokeWhere(parts, draft, ({ session }) => session === draft.sessionKey, {
    reason: "the session that gave it was erased",
  });
}

function revokeWhere(
  parts: EngineParts,
  draft: Draft,
  isMeant: (grant: GrantRecord) => boolean,
  why: Omit<GrantRevocation, "at">,
): void {
  for (const grant of draft.grants.filter((one) => one.revoked === undefined && isMeant(one)))
    writeRevocation(parts, draft, grant, { ...why, at: draft.now });
}

function actedBy(decider: Decider | undefined): Pick<GrantRevocation, "by" | "via"> {
  if (decider === undefined) return {};
  const { id, kind, authenticated } = decider.by;
  return { by: { id, kind, authenticated }, via: decider.via };
}

function writeRevocation(
  parts: EngineParts,
  draft: Draft,
  grant: GrantRecord,
  revoked: GrantRevocation,
): GrantRecord {
  const { at: _at, ...told } = revoked;
  const { id, tool, uses } = grant;
  draft.journal("grant-revoked", { grant: id, tool, uses, ...told });
  return changeGrant(parts, draft, { ...grant, revoked });
}

function refusal(code: ErrorCode, message: string): RevokeRefusal {
  return { ok: false, code, message };
}
