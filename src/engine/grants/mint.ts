import type {
  CallRecord,
  ConfirmationRecord,
  Draft,
  GrantApproval,
  GrantLimits,
  GrantRecord,
  Vote,
} from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { signedGrant } from "./grant-mac.ts";
import { type SharedGrants, writeToList } from "./shared.ts";

/** A session's document is written with every commit, and a call reads all grants of a list, so they hold few. */
const MOST = 20;

/** May there be one more grant beside these? */
export function hasRoomForGrant(grants: readonly GrantRecord[], now: number): boolean {
  const live = grants.filter(({ revoked, endsAt }) => revoked === undefined && endsAt > now);
  return live.length < MOST;
}

/** Gives a grant in the commit of the approval that it belongs to: what is approved is granted for further calls. */
export function mintGrant(
  parts: EngineParts,
  draft: Draft,
  {
    confirmation,
    call,
    limits,
    shared,
  }: {
    /** As it is approved. */
    readonly confirmation: ConfirmationRecord;
    readonly call: CallRecord;
    readonly limits: GrantLimits;
    /** For a grant across sessions: those beside which it is listed. */
    readonly shared?: SharedGrants;
  },
): GrantRecord {
  const { requesters, askedBy = [], requirements, escalations, votes } = confirmation;
  const approvals = votes.filter(({ confirmed }) => confirmed).map(toApproval);
  const grant = signedGrant(
    parts,
    asStored({
      id: `${call.session}.grant-${parts.newId(draft.now)}`,
      session: call.session,
      app: call.app,
      agent: call.agent,
      tool: call.tool,
      definitionDigest: call.definitionDigest,
      confirmation: confirmation.id,
      requesters,
      askedBy,
      requirements,
      ...(escalations === undefined ? {} : { escalations }),
      approvals,
      limits,
      mintedAt: draft.now,
      endsAt: draft.now + limits.forMs,
      uses: 0,
      spent: {},
      revision: 1,
    }),
  );
  draft.sync().putGrant(grant);
  if (shared !== undefined) writeToList(parts, draft, { grant, shared });
  const { id, agent, tool, definitionDigest, endsAt } = grant;
  const by = givers(grant);
  draft.journal("grant-minted", {
    grant: id,
    confirmation: confirmation.id,
    call: call.id,
    tool,
    agent,
    definitionDigest,
    by,
    limits,
    endsAt,
  });
  return grant;
}

/** Who gave the grant. */
export function givers({ approvals }: Pick<GrantRecord, "approvals">): readonly string[] {
  return approvals.map(({ by }) => by.id);
}

// What is signed must be what is read later: a host program may have given members that are undefined.
function asStored(grant: GrantRecord): GrantRecord {
  return JSON.parse(JSON.stringify(grant)) as GrantRecord;
}

function toApproval({
  reason: _reason,
  payload: _payload,
  args: _args,
  sentDigest: _sent,
  mac: _mac,
  grant: _grant,
  ...approval
}: Vote): GrantApproval {
  return approval;
}
