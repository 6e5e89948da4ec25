import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { Channel, Notice, NoticeType } from "./channel.ts";

/** What a recipient does with the next notice. */
export type RecipientPlay =
  | { readonly kind: "accept" }
  /** Fails temporarily. */
  | { readonly kind: "fail" }
  /** Asks to retry after this time. */
  | { readonly kind: "busy"; readonly waitMs: number }
  /** Takes it and never answers. */
  | { readonly kind: "silence" }
  /** Takes it and breaks the connection: the sender cannot know. */
  | { readonly kind: "hang up" }
  /** Answers, and then never stops. */
  | { readonly kind: "flood" }
  /** Takes it, and answers two times. */
  | { readonly kind: "answer twice" }
  /** Is not there. */
  | { readonly kind: "absent" };

/** What a channel provides to the suite, created for every case. */
export interface ChannelSubject {
  readonly channel: Channel;
  /** Sets what the recipient does from now on. */
  readonly play: (play: RecipientPlay) => Promise<void> | void;
  /**
   * Everything that has arrived, each as all the text that the recipient got, with the id by which the recipient can
   * recognise it.
   */
  readonly arrived: () => readonly { readonly id: string; readonly text: string }[];
  /** How many different messages a person finds there; what has the same id is one. */
  readonly found: () => number;
  /** It sends ids and nothing that a person could read. */
  readonly sendsOnlyIds?: true;
  /** The medium has no way to say when to try again, or is not trusted to. */
  readonly namesNoTime?: true;
  /** It reads what the recipient answers, so an answer that it cannot read is a failure. */
  readonly readsAnswers?: true;
  /** The medium has no place for an id, so nobody can drop what comes a second time. */
  readonly hasNoIds?: true;
  /** Programs read it, so texts are data in it and stay as they are. */
  readonly sendsData?: true;
  /** How much one message may have, in characters. */
  readonly most?: number;
  /** What must not appear in any message to the operator: keys, tokens, the secret part of an address. */
  readonly secrets: readonly string[];
}

/** One requirement of the interface; `run` throws if it is not met. */
export interface ChannelCase {
  /** A claim about behaviour. */
  readonly name: string;
  readonly run: (subject: ChannelSubject) => Promise<void>;
}

const TYPES: readonly NoticeType[] = [
  "confirmation.requested",
  "confirmation.voted",
  "confirmation.decided",
  "confirmation.reminded",
  "confirmation.escalated",
  "confirmation.expired",
  "confirmation.cancelled",
  "call.ended",
  "call.unknown",
  "call.settled",
];
const AT = Date.UTC(2026, 0, 1);
/** Reversed, hidden, padded: what makes a text look like another one. */
const TRICKS = "a\u202Egpj.exe\u2066b\u200Bc\u00ADd\uFEFFe\u2028f";
const HIDDEN = /[\u00AD\u200B-\u200F\u2028-\u202E\u2066-\u2069\uFEFF]/;
const FAILURES: readonly RecipientPlay[] = [
  { kind: "fail" },
  { kind: "absent" },
  { kind: "busy", waitMs: 7_000 },
];

/** A notice about a confirmation that has every member. */
export function buildNotice(over: Partial<Notice> = {}): Notice {
  return {
    id: "msg_1",
    type: "confirmation.requested",
    sequence: 7,
    revision: 7,
    at: AT,
    link: "https://approvals.example/#/confirmations/adk-1",
    about: {
      id: "adk-1",
      callId: "call-1",
      turn: "f.1",
      status: "requested",
      app: "bank",
      agent: "teller",
      path: ["teller"],
      user: "ana",
      requesters: ["ana"],
      session: "s1",
      invocation: "i1",
      tool: "transfer",
      args: { to: "bob", pin: "[redacted]" },
      digest: "d1",
      hint: "Pay <b>bob</b>?",
      round: 0,
      why: ["tool"],
      requirements: [{ from: "requester", count: 1, approved: 0 }],
      denials: 1,
      votes: [],
      requestedAt: new Date(AT).toISOString(),
      can: { decide: false, amend: false, cancel: false },
      version: 1,
    },
    ...over,
  };
}

function never(): AbortSignal {
  return new AbortController().signal;
}

/** All requirements of `Channel`, one case each, for any test runner. */
export const channelContract: readonly ChannelCase[] = [
  {
    name: "every kind of notice arrives once, and says what it is about and where to decide it",
    async run({ channel, play, arrived, sendsOnlyIds = false, hasNoIds = false }) {
      const parts = sendsOnlyIds ? ["adk-1"] : ["adk-1", "transfer", "/#/confirmations/adk-1"];
      await play({ kind: "accept" });
      for (const [i, type] of TYPES.entries()) {
        const told = await channel.tell(buildNotice({ type, id: `msg_${i}`, sequence: i }), never());
        deepStrictEqual(told, { ok: true }, type);
        strictEqual(arrived().length, i + 1, type);
        const { id, text } = arrived()[i] ?? { id: "", text: "" };
        if (!hasNoIds) strictEqual(id, `msg_${i}`);
        for (const part of parts) ok(text.includes(part), `${type}: ${part}`);
      }
    },
  },
  {
    name: "a reminder and an escalation that wait to be sent reach nobody once the question is over",
    async run({ channel, play, arrived }) {
      await play({ kind: "accept" });
      for (const type of ["confirmation.reminded", "confirmation.escalated"] as const)
        for (const status of ["executing", "denied", "expired", "cancelled"] as const) {
          const about = { ...buildNotice().about, status };
          const late = buildNotice({ type, about, id: `msg_${type}_${status}` });
          deepStrictEqual(await channel.tell(late, never()), { ok: true });
          deepStrictEqual(arrived(), [], `${type}: ${status}`);
        }
    },
  },
  {
    name: "a call that nobody was asked about is told of too",
    async run({ channel, play, arrived, sendsOnlyIds = false }) {
      await play({ kind: "accept" });
      const about = {
        callId: "call-9",
        turn: "f.1",
        status: "unknown",
        app: "bank",
        agent: "teller",
        user: "ana",
        session: "s1",
        tool: "wipe_disk",
        args: {},
      };
      const { link: _link, ...notice } = buildNotice({ type: "call.unknown", about });
      deepStrictEqual(await channel.tell(notice, never()), { ok: true });
      ok(arrived()[0]?.text.includes(sendsOnlyIds ? "call-9" : "wipe_disk"));
    },
  },
  {
    name: "a notice that is told again has the same id, or does not arrive again",
    async run({ channel, play, arrived, hasNoIds = false }) {
      await play({ kind: "accept" });
      await channel.tell(buildNotice(), never());
      await channel.tell(buildNotice(), never());
      if (hasNoIds) return strictEqual(new Set(arrived().map(({ text }) => text)).size, 1);
      deepStrictEqual([...new Set(arrived().map(({ id }) => id))], ["msg_1"]);
    },
  },
  {
    name: "a recipient that fails, is busy or is not there is an outcome with a reason that gives nothing away",
    async run({ channel, play, secrets, namesNoTime = false }) {
      for (const failure of FAILURES) {
        await play(failure);
        const told = await channel.tell(buildNotice(), never());
        strictEqual(told.ok, false, failure.kind);
        if (told.ok) continue;
        ok(told.reason.length > 0, failure.kind);
        strictEqual(told.final, undefined, failure.kind);
        for (const secret of secrets) ok(!told.reason.includes(secret), `${failure.kind}: ${told.reason}`);
        if (failure.kind === "busy" && !namesNoTime) strictEqual(told.retryAfterMs, failure.waitMs);
      }
      await play({ kind: "accept" });
      deepStrictEqual(await channel.tell(buildNotice(), never()), { ok: true }, "and then arrives");
    },
  },
  {
    name: "a message of which nobody knows whether it arrived is found once, however often it is told again",
    async run({ channel, play, found, hasNoIds = false }) {
      await play({ kind: "hang up" });
      strictEqual((await channel.tell(buildNotice(), never())).ok, false);
      strictEqual((await channel.tell(buildNotice(), never())).ok, false);
      await play({ kind: "accept" });
      deepStrictEqual(await channel.tell(buildNotice(), never()), { ok: true });
      deepStrictEqual(await channel.tell(buildNotice(), never()), { ok: true });
      // Without an id, coming twice is better than not at all.
      if (!hasNoIds) strictEqual(found(), 1);
    },
  },
  {
    name: "a recipient that never answers is left when the signal says so",
    async run({ channel, play, arrived }) {
      await play({ kind: "silence" });
      const leave = new AbortController();
      const told = channel.tell(buildNotice(), leave.signal);
      while (arrived().length === 0) await new Promise((resolve) => setImmediate(resolve));
      leave.abort();
      strictEqual((await told).ok, false);
    },
  },
  {
    name: "an answer that never ends is not waited for",
    async run({ channel, play, readsAnswers = false }) {
      await play({ kind: "flood" });
      strictEqual((await channel.tell(buildNotice(), never())).ok, !readsAnswers);
    },
  },
  {
    name: "a second answer is not taken for the answer to another message",
    async run({ channel, play, arrived }) {
      await play({ kind: "answer twice" });
      deepStrictEqual(await channel.tell(buildNotice(), never()), { ok: true });
      strictEqual(arrived().length, 1);
      await play({ kind: "fail" });
      const other = buildNotice({ id: "msg_2", type: "confirmation.escalated", sequence: 8 });
      strictEqual((await channel.tell(other, never())).ok, false);
    },
  },
  {
    name: "what would hide or reorder text is written out",
    async run({ channel, play, arrived, sendsData = false }) {
      await play({ kind: "accept" });
      const { about } = buildNotice();
      const hostile = {
        ...about,
        tool: TRICKS,
        hint: TRICKS,
        agent: TRICKS,
        user: TRICKS,
        args: { [TRICKS]: TRICKS },
      };
      deepStrictEqual(await channel.tell(buildNotice({ about: hostile }), never()), { ok: true });
      const [message] = arrived();
      ok(message !== undefined);
      if (!sendsData) ok(!HIDDEN.test(message.text), message.text);
    },
  },
  {
    name: "what does not fit arrives shortened, with the link to all of it",
    async run({ channel, play, arrived, sendsOnlyIds = false, most = Number.POSITIVE_INFINITY }) {
      await play({ kind: "accept" });
      const { about } = buildNotice();
      const many = Object.fromEntries(
        Array.from({ length: 200 }, (_, place) => [`field ${place}`, "y\u{1F600}"]),
      );
      const args = { ...many, letter: "x".repeat(300_000) };
      const large = { ...about, tool: "t\u202E".repeat(1_000), hint: "h\u{1F600}".repeat(5_000), args };
      deepStrictEqual(await channel.tell(buildNotice({ about: large }), never()), { ok: true });
      const { text } = arrived()[0] ?? { text: "" };
      ok(text.length <= most, `${text.length} characters`);
      ok(text.includes(sendsOnlyIds ? "adk-1" : "/#/confirmations/adk-1"));
    },
  },
];
