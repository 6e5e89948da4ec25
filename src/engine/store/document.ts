import { confirmationPrefix } from "../common/index.ts";
import type {
  CallRecord,
  ChainHead,
  ConfirmationRecord,
  FrameRecord,
  GrantRecord,
  Pruned,
  SessionName,
  StepRecord,
  Vote,
} from "../ledger/index.ts";
import type { Principal } from "../people/index.ts";

/** Members whose values are too long for a document: which log row of the session has the whole of each. */
export interface LongMembers {
  readonly [member: string]: number;
}

/** A row as its document has it. A long value is cut to its beginning there. */
export type Packed<Row> = Row & { readonly long?: LongMembers };

/** How a session stands, beside its rows. */
export interface SessionHead extends SessionName {
  readonly nextSeq: number;
  readonly open: number;
  readonly ready: number;
  readonly bytes: number;
  readonly chain: ChainHead;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly deletedAt?: number;
  readonly pruned?: Pruned;
}

/**
 * All that a session's next commit has to know. What is over leaves it, so that it stays small whatever the age of the
 * session; it is found in the log from then on.
 */
export interface SessionDocument {
  readonly head: SessionHead;
  readonly frames: readonly Packed<FrameRecord>[];
  readonly calls: readonly Packed<CallRecord>[];
  readonly confirmations: readonly Packed<ConfirmationRecord>[];
  readonly steps: readonly Packed<StepRecord>[];
  /** Absent if there are none. */
  readonly grants?: readonly GrantRecord[];
}

/** Tells a step from all others of its session. */
export function stepName({ call, kind, name, occurrence }: StepRecord): string {
  return JSON.stringify([call, kind, name, occurrence]);
}

/** Members that are the id of a row of the session, or a list of such. */
const IDS: ReadonlySet<string> = new Set(["id", "call", "calls", "confirmation", "frame"]);

/** What a member of rows is called in the text, or the other way round. */
interface Name {
  readonly name: string;
  readonly isId: boolean;
}

/** One-letter names for members of nearly every row. All other members keep their names, which are longer. */
const SHORT: ReadonlyMap<string, Name> = new Map(
  Object.entries({
    id: "i",
    call: "c",
    calls: "l",
    confirmation: "q",
    frame: "f",
    status: "s",
    agent: "a",
    tool: "t",
    args: "g",
    argsDigest: "d",
    definitionDigest: "D",
    permit: "P",
    turn: "n",
    attempt: "N",
    rounds: "R",
    owner: "o",
    startedAt: "b",
    endedAt: "e",
    result: "r",
    kind: "k",
    invocation: "v",
    requirements: "m",
    shown: "h",
    requestedAt: "B",
    expiresAt: "E",
    votes: "V",
    mac: "M",
  }).map(([member, name]) => [member, { name, isId: IDS.has(member) }]),
);
const LONG: ReadonlyMap<string, Name> = new Map(
  Array.from(SHORT, ([member, { name, isId }]) => [name, { name: member, isId }]),
);

/**
 * A document as a store keeps it, beside its session's name and key: JSON with short names for what is in nearly every row.
 * What can be told from the rest is left out: the session's name and key, also in ids; what a row has in common with its session
 * or its frame; and what most rows say.
 */
export function documentText(key: string, document: SessionDocument): string {
  const { app: _app, user: _user, id: _id, open, ready, ...head } = document.head;
  const { frames, calls, confirmations, steps, grants } = document;
  const session = { key, ...document };
  const counts = { ...(open === 0 ? {} : { open }), ...(ready === 0 ? {} : { ready }) };
  const texts = [
    `"head":${JSON.stringify({ ...head, ...counts })}`,
    listText("frames", frames, (row) =>
      rowText(row, undefined, () => shorten(row, usualFrame(row, session), key)),
    ),
    listText("calls", calls, (row) => callText(row, session)),
    listText("confirmations", confirmations, (row) => confirmationText(row, session)),
  ];
  if (steps.length > 0)
    texts.push(listText("steps", steps, (row) => rowText(row, undefined, () => shorten(row, {}, key))));
  // As they are: few sessions have any.
  if (grants !== undefined) texts.push(`"grants":${JSON.stringify(grants)}`);
  return `{${texts.join(",")}}`;
}

function listText<Row>(name: string, rows: readonly Row[], textOf: (row: Row) => string): string {
  return `"${name}":[${rows.map(textOf).join(",")}]`;
}

function callText(row: Packed<CallRecord>, session: Session): string {
  const frame = byId(session.frames, row.frame);
  return rowText(row, frame, () => shorten(row, usualCall(row, session), session.key));
}

function confirmationText(row: Packed<ConfirmationRecord>, session: Session): string {
  const { key } = session;
  const frame = byId(session.frames, byId(session.calls, row.call)?.frame);
  return rowText(row, frame, () => {
    const votes = row.votes.map((vote) => {
      const by = shorten(vote.by, USUAL_VOTER, key);
      return shorten({ ...vote, by }, usualVote(vote), key);
    });
    return shorten({ ...row, votes }, usualConfirmation(row, session), key);
  });
}

/** The text of a row, and what of its frame it was made with. A row never changes. */
interface RowText {
  readonly text: string;
  readonly beside: readonly unknown[];
}

const rowTexts = new WeakMap<object, RowText>();
const NO_FRAME: readonly unknown[] = [];

/** With a commit few rows change: the others are not encoded again. */
function rowText(row: object, frame: FrameRecord | undefined, shortened: () => object): string {
  const beside = frame === undefined ? NO_FRAME : [frame.agent, frame.path, frame.invocation];
  const known = rowTexts.get(row);
  if (known !== undefined && isSameList(known.beside, beside)) return known.text;
  const text = JSON.stringify(shortened());
  rowTexts.set(row, { text, beside });
  return text;
}

interface Short {
  readonly head: Omit<SessionHead, keyof SessionName | "open" | "ready"> &
    Partial<Pick<SessionHead, "open" | "ready">>;
  readonly frames: readonly object[];
  readonly calls: readonly object[];
  readonly confirmations: readonly { readonly V: readonly object[] }[];
  readonly steps?: readonly object[];
  readonly grants?: readonly GrantRecord[];
}

/** The document that a text was made from. */
export function readDocumentText(key: string, { app, user, id }: SessionName, text: string): SessionDocument {
  const short = JSON.parse(text) as Short;
  const head = { app, user, id, open: 0, ready: 0, ...short.head };
  const frames = short.frames.map((each) => {
    const row = lengthen(each, key) as FrameRecord;
    return { ...usualFrame(row, { key, head }), ...row };
  });
  const calls = short.calls.map((each) => {
    const row = lengthen(each, key) as CallRecord;
    return { ...usualCall(row, { key, head, frames }), ...row };
  });
  const confirmations = short.confirmations.map((each) => {
    const row = lengthen(each, key) as ConfirmationRecord;
    const votes = each.V.map((given) => {
      const vote = lengthen(given, key) as Vote;
      const by = { ...USUAL_VOTER, ...lengthen(vote.by, key) } as Principal;
      return { ...usualVote({ by }), ...vote, by };
    });
    return { ...usualConfirmation(row, { key, head, frames, calls }), ...row, votes };
  });
  const steps = (short.steps ?? []).map((each) => lengthen(each, key) as StepRecord);
  const { grants } = short;
  return { head, frames, calls, confirmations, steps, ...(grants === undefined ? {} : { grants }) };
}

interface Session extends Pick<SessionDocument, "head" | "frames" | "calls"> {
  readonly key: string;
}

/** Values that are left out. Of members that every row has only: where one is missing in the text, it is this. */
type Usual<Row> = {
  readonly [member in keyof Row as object extends Pick<Row, member> ? never : member]?:
    | Row[member]
    | undefined;
};

function usualFrame(
  { agent }: FrameRecord,
  { key, head }: Pick<Session, "key" | "head">,
): Usual<FrameRecord> {
  return { session: key, app: head.app, path: [agent], cursor: null, open: 0 };
}

function usualCall(
  { id, frame }: CallRecord,
  { key, head, frames }: Pick<Session, "key" | "head" | "frames">,
): Usual<CallRecord> {
  return {
    session: key,
    app: head.app,
    wireId: id.slice(key.length + 1),
    agent: byId(frames, frame)?.agent,
    ord: 0,
    unparsed: false,
    repeatable: false,
    refused: false,
    secrets: [],
  };
}

function usualConfirmation(
  { call }: ConfirmationRecord,
  { key, head, frames, calls }: Session,
): Usual<ConfirmationRecord> {
  const frame = byId(frames, byId(calls, call)?.frame);
  return {
    session: key,
    app: head.app,
    user: head.user,
    requesters: [head.user],
    agent: frame?.agent,
    path: frame?.path,
    invocation: frame?.invocation,
    round: 0,
    shownVersion: 1,
  };
}

function usualVote({ by }: Pick<Vote, "by">): Usual<Vote> {
  return { person: by.id };
}

const USUAL_VOTER: Usual<Principal> = { roles: [], scopes: [] };

function byId<Row extends { readonly id: string }>(
  rows: readonly Row[],
  id: string | undefined,
): Row | undefined {
  return id === undefined ? undefined : rows.find((row) => row.id === id);
}

type Members = { readonly [member: string]: unknown };

function shorten(row: object, usual: object, key: string): Members {
  const short: Record<string, unknown> = {};
  for (const member in row) {
    const value = (row as Members)[member];
    const left = (usual as Members)[member];
    if (left !== undefined && (value === left || isSameList(value, left))) continue;
    const known = SHORT.get(member);
    if (known === undefined) short[member] = value;
    else short[known.name] = known.isId ? mapIds(value, key, shortId) : value;
  }
  return short;
}

function lengthen(short: object, key: string): object {
  const row: Record<string, unknown> = {};
  for (const name in short) {
    const value = (short as Members)[name];
    const known = LONG.get(name);
    if (known === undefined) row[name] = value;
    else row[known.name] = known.isId ? mapIds(value, key, longId) : value;
  }
  return row;
}

function isSameList(one: unknown, other: unknown): boolean {
  if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
  return one.every((item, at) => item === other[at]);
}

function mapIds(value: unknown, key: string, map: (id: string, key: string) => string): unknown {
  if (typeof value === "string") return map(value, key);
  return Array.isArray(value) ? value.map((id: string) => map(id, key)) : value;
}

/** The first two stand for how ids of a session begin; the last for nothing, before an id that begins with one of them. */
const [OWN, QUESTION, AS_IT_IS] = ["~", "^", "="] as const;
const MARKS: ReadonlySet<string> = new Set([OWN, QUESTION, AS_IT_IS]);

function shortId(id: string, key: string): string {
  if (id.startsWith(key)) return OWN + id.slice(key.length);
  const questions = confirmationPrefix(key);
  if (id.startsWith(questions)) return QUESTION + id.slice(questions.length);
  return MARKS.has(id.charAt(0)) ? AS_IT_IS + id : id;
}

function longId(id: string, key: string): string {
  switch (id.charAt(0)) {
    case OWN:
      return key + id.slice(1);
    case QUESTION:
      return confirmationPrefix(key) + id.slice(1);
    case AS_IT_IS:
      return id.slice(1);
    default:
      return id;
  }
}
