import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/index.ts";
import type { ConfirmationSubject } from "../../questions/index.ts";
import type { CallRecord } from "./call-record.ts";
import type { PolicyNote, Shown, Vote } from "./confirmation-record.ts";

/** What is longer than this, as JSON, is cut in lists. */
const LONGEST_WHOLE = 4_096;
/** What is shown of it has at most this many characters. */
const LONGEST_CUT = 2_048;
const LONGEST_KEY = 60;

/** How much of a value is kept: of a text, of an array or object, and how deep. */
interface Keep {
  readonly text: number;
  readonly items: number;
  readonly depth: number;
}

// Tried in turn; what the last one leaves is small, whatever it was taken from.
const KEEPS: readonly Keep[] = [
  { text: 400, items: 20, depth: 4 },
  { text: 100, items: 10, depth: 3 },
  { text: 40, items: 5, depth: 2 },
];
const LEAST: Keep = { text: 20, items: 3, depth: 1 };
const WORDS: Keep = { text: 300, items: 0, depth: 0 };
const GONE = "…";

/** A long value's beginning, in the shape of the whole; undefined if the value is short enough to be listed whole. */
export function cutValue<T extends JsonValue>(value: T): T | undefined {
  if (isShort(value)) return undefined;
  for (const keep of KEEPS) {
    const kept = cut(value, keep);
    if (sizeOf(kept) <= LONGEST_CUT) return kept as T;
  }
  return cut(value, LEAST) as T;
}

/** As {@link cutValue}. Schemas go: nobody fills in a form in a list. */
export function cutShown(shown: Shown): Shown | undefined {
  if (isShort(shown)) return undefined;
  const { schema: _schema, argsSchema: _argsSchema, startedWith: _startedWith, layout, ...rest } = shown;
  return {
    ...rest,
    hint: cutText(shown.hint),
    why: shown.why.slice(0, LEAST.items).map(cutText),
    ...(shown.payload === undefined ? {} : { payload: cut(shown.payload, LEAST) }),
    ...(shown.source === undefined ? {} : { source: cutText(shown.source) }),
    ...(shown.question === undefined ? {} : { question: cutText(shown.question) }),
    ...(layout?.hold === true ? { layout: { hold: true } } : {}),
  };
}

/** As {@link cutValue}; that it was decided, how, by whom and when is always told. */
export function cutVotes(votes: readonly Vote[]): readonly Vote[] | undefined {
  if (isShort(votes)) return undefined;
  return votes.slice(-1).map((vote) => ({
    ...vote,
    by: { ...vote.by, roles: [], scopes: [] },
    ...(vote.reason === undefined ? {} : { reason: cutText(vote.reason) }),
    ...(vote.payload === undefined ? {} : { payload: cut(vote.payload, LEAST) }),
    ...(vote.args === undefined ? {} : { args: cut(vote.args, LEAST) as JsonObject }),
  }));
}

/** As {@link cutValue}; what the rules saw goes. */
export function cutPolicy(notes: readonly PolicyNote[]): readonly PolicyNote[] | undefined {
  if (isShort(notes)) return undefined;
  return notes.map(({ rules, ...note }) => ({
    ...note,
    rules: rules.slice(0, KEEPS[0]?.items).map(({ facts: _facts, ...rule }) => rule),
  }));
}

/** A call with its long values cut; `truncated` where one was. */
function cutCall(call: CallRecord): CallRecord & { readonly truncated?: true } {
  const args = cutValue(call.args);
  const result = call.result === undefined ? undefined : cutValue(call.result);
  if (args === undefined && result === undefined) return call;
  return {
    ...call,
    ...(args === undefined ? {} : { args }),
    ...(result === undefined ? {} : { result }),
    truncated: true,
  };
}

/** A question and its call with their long values cut, as a list has them. */
export function cutSubject<T extends ConfirmationSubject>(subject: T): T & { readonly truncated?: true } {
  const { truncated, ...call } = cutCall(subject.call);
  const shown = cutShown(subject.confirmation.shown);
  const votes = cutVotes(subject.confirmation.votes);
  if (truncated === undefined && shown === undefined && votes === undefined) return subject;
  const confirmation = {
    ...subject.confirmation,
    ...(shown === undefined ? {} : { shown }),
    ...(votes === undefined ? {} : { votes }),
  };
  return { ...subject, call, confirmation, truncated: true };
}

function cutText(text: string): string {
  return cut(text, WORDS) as string;
}

function cut(value: JsonValue, keep: Keep): JsonValue {
  if (typeof value === "string") {
    return value.length <= keep.text ? value : value.slice(0, keep.text).toWellFormed() + GONE;
  }
  if (!isJsonArray(value) && !isJsonObject(value)) return value;
  if (keep.depth === 0) return GONE;
  const below = { ...keep, depth: keep.depth - 1 };
  if (isJsonArray(value)) return value.slice(0, keep.items).map((item) => cut(item, below));
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key.length <= LONGEST_KEY)
      .slice(0, keep.items)
      .map(([key, item]) => [key, cut(item, below)]),
  );
}

function sizeOf(value: unknown): number {
  return JSON.stringify(value).length;
}

function isShort(value: unknown): boolean {
  return roomAfter(value, LONGEST_WHOLE) >= 0 || sizeOf(value) <= LONGEST_WHOLE;
}

/** No character takes more than this as JSON. */
const LONGEST_ESCAPE = 6;
const LONGEST_NUMBER = 25;

/** How many of these characters are left after the value as JSON, at its longest; negative if there are too few. */
function roomAfter(value: unknown, room: number): number {
  if (typeof value === "string") return room - LONGEST_ESCAPE * value.length - 2;
  if (typeof value !== "object" || value === null) return room - LONGEST_NUMBER;
  let left = room - 2;
  for (const key of Object.keys(value)) {
    if (left < 0) return left;
    left = roomAfter(
      (value as { readonly [key: string]: unknown })[key],
      left - LONGEST_ESCAPE * key.length - 4,
    );
  }
  return left;
}
