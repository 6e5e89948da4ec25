/** The statements of one cycle, word for word as the store has them; `cost` checks that they still are. */

const SESSION =
  "s.key, s.app, s.user, s.id, s.version, s.next_seq, s.open, s.ready, s.chain_n, s.chain_hash, s.created_at, " +
  "s.updated_at, s.deleted_at";
const CALL =
  "k.id, k.session, k.app, k.frame, k.turn, k.ord, k.wire_id, k.agent, k.tool, k.args, k.args_digest, " +
  "k.definition_digest, k.secrets, k.repeatable, k.unparsed, k.status, k.attempt, k.owner, k.started_at, " +
  "k.ended_at, k.confirmation, k.rounds, k.refused, k.result, k.original_args, k.permit, k.requesters";
const CONFIRMATION =
  "c.id, c.call, c.round, c.session, c.app, c.agent, c.path, c.user, c.tool, c.requesters, c.approvers, " +
  "c.invocation, c.args_digest, c.shown, c.shown_version, c.status, c.requested_at, c.deadline, c.votes, " +
  "c.withdrawal";
const FRAME =
  "f.id, f.session, f.app, f.invocation, f.parent_frame, f.parent_call, f.kind, f.agent, f.path, f.branch, " +
  "f.cursor, f.status, f.turn, f.calls, f.open, f.owner, f.output";
const WHOLE = `${SESSION}, ${CALL}, ${CONFIRMATION}, ${FRAME}`;

const LIVE_OWNER = "exists (select 1 from owners where id = ? and fenced = 0 and lease_until > ?)";
const MOVE_SESSION =
  "update sessions set version = version + 1, next_seq = ?, open = ?, ready = ?, chain_n = ?, chain_hash = ?, " +
  "updated_at = ? where key = ? and version = ?";

/** Reads, and the guards that are reads. */
export const READS = {
  sessionByName: `select ${SESSION} from sessions s where s.app = ? and s.user = ? and s.id = ?`,
  byConfirmation:
    `select ${WHOLE} from confirmations c cross join sessions s on s.key = c.session ` +
    "left join calls k on k.id = c.call left join frames f on f.id = k.frame where c.id = ?",
  otherStepping:
    "select 1 from frames f cross join frames other indexed by frames_live on other.session = f.session " +
    "and other.over = 0 and other.status = 'stepping' and other.branch is f.branch and other.id <> f.id " +
    "where f.id = ? limit 1",
  stepping:
    "select 1 from frames indexed by frames_live where session = ? and over = 0 " +
    "and status = 'stepping' and branch is ? limit 1",
} as const;

export const WRITES = {
  begin: "begin immediate",
  commit: "commit",
  insertSession:
    "insert into sessions (key, app, user, id, version, next_seq, open, ready, chain_n, chain_hash, created_at, " +
    `updated_at, deleted_at) select ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? where true and ${LIVE_OWNER} ` +
    "on conflict do nothing",
  moveSession: MOVE_SESSION,
  moveSessionOwned: `${MOVE_SESSION} and ${LIVE_OWNER}`,
  insertFrame:
    "insert into frames (id, session, app, invocation, parent_frame, parent_call, kind, agent, path, branch, " +
    "cursor, status, turn, calls, open, owner, output, over) " +
    "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  pauseFrame:
    "update frames set status = ?, turn = ?, calls = ?, open = ?, owner = ? where id = ? and status = ?",
  stepFrame: "update frames set status = ?, open = ?, owner = ? where id = ? and status = ?",
  endFrame: "update frames set status = ?, owner = ?, over = ? where id = ? and status = ?",
  insertEvent: "insert into events (session, seq, body) values (?, ?, ?)",
  insertCall:
    "insert into calls (id, session, app, frame, turn, ord, wire_id, agent, tool, args, args_digest, " +
    "definition_digest, secrets, repeatable, unparsed, status, attempt, owner, started_at, ended_at, " +
    "confirmation, rounds, refused, result, original_args, permit, requesters) " +
    "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  claimCall:
    "update calls set status = ?, attempt = ?, started_at = ?, owner = ? " +
    "where id = ? and status = ? and attempt = ?",
  answerCall:
    "update calls set status = ?, ended_at = ?, result = ?, owner = ? " +
    "where id = ? and status = ? and attempt = ?",
  insertConfirmation:
    "insert into confirmations (id, call, round, session, app, agent, path, user, tool, requesters, approvers, " +
    "invocation, args_digest, shown, shown_version, status, requested_at, deadline, votes, withdrawal) " +
    "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  approve: "update confirmations set status = ?, votes = ? where id = ? and status = ? and deadline > ?",
  insertJournal:
    "insert into journal (seq, stream, n, at, kind, body_digest, hash, body) values (?, ?, ?, ?, ?, ?, ?, ?)",
} as const;

/** Makes the row that every claim is checked against; once, before the first cycle. */
export const REGISTER_OWNER =
  "insert into owners (id, host, pid, lease_until, last_beat_at, fenced) values (?, ?, ?, ?, ?, 0)";
