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
    async run({ channel, play, arrived, sendsOnlyIds = false }) {
      const parts = sendsOnlyIds ? ["adk-1"] : ["adk-1", "transfer", "/#/confirmations/adk-1"];
      await play({ kind: "accept" });
      for (const [i, type] of TYPES.entries()) {
        const told = await channel.tell(buildNotice({ type, id: `msg_${i}`, sequence: i }), never());
        deepStrictEqual(told, { ok: true }, type);
        strictEqual(arrived().length, i + 1, type);
        const { id, text } = arrived()[i] ?? { id: "", text: "" };
        strictEqual(id, `msg_${i}`);
        for (const part of parts) ok(text.includes(part), `${type}: ${part}`);
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
    async run({ channel, play, arrived }) {
      await play({ kind: "accept" });
      await channel.tell(buildNotice(), never());
      await channel.tell(buildNotice(), never());
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
    async run({ channel, play, found }) {
      await play({ kind: "hang up" });
      strictEqual((await channel.tell(buildNotice(), never())).ok, false);
      strictEqual((await channel.tell(buildNotice(), never())).ok, false);
      await play({ kind: "accept" });
      deepStrictEqual(await channel.tell(buildNotice(), never()), { ok: true });
      deepStrictEqual(await channel.tell(buildNotice(), never()), { ok: true });
      strictEqual(found(), 1);
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
];
