import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { Confirmation, Engine } from "../engine/index.ts";
import type { JsonObject } from "../protocol/index.ts";
import type { ChannelPerson } from "./people.ts";

/** A person of the suite. `moved`: they have another account or address there than when they were asked. */
export interface InboundPerson extends ChannelPerson {
  readonly moved?: true;
}

/** Those whom the configuration of every subject knows. Ana asks; managers are asked. */
export const INBOUND_PEOPLE: readonly InboundPerson[] = [
  { id: "ana" },
  { id: "bob", roles: ["manager"] },
  { id: "meg", roles: ["manager"] },
];

/** What is asked. */
export interface InboundQuestion {
  readonly hint?: string;
  readonly args?: JsonObject;
  /** How many managers must approve; one if not given. */
  readonly count?: number;
}

/** How a person of the suite answers. */
export interface InboundAnswering {
  readonly person: string;
  readonly confirmed: boolean;
  readonly reason?: string;
}

/**
 * Requests that nobody who was asked has sent. `forged`: not the medium's, altered, too old or too early. `foreign`: of another
 * workspace, app or origin. `copied`: with what was given to another question, message or person. `edited`: from a message that
 * somebody else has changed. `strange`: by people whom the configuration does not know. `alike`: by names that look like an
 * approver's. `forced`: an approval where the medium offers none.
 */
export type InboundFraud = "forged" | "foreign" | "copied" | "edited" | "strange" | "alike" | "forced";

/** A request that must decide nothing, and how it is answered. */
export interface InboundAttempt {
  readonly request: Request;
  readonly status: number;
  /** In what whoever sent it is told. */
  readonly says?: string;
}

/** How somebody without the right to decide is answered. */
export type InboundLoss = Omit<InboundAttempt, "request">;

/** How a request was answered, with all that whoever sent it is told, in the answer or in the medium. */
export interface InboundReply {
  readonly status: number;
  readonly text: string;
}

/** Why the medium has no such requests. */
export type NotApplicable = `n/a: ${string}`;

/** What a channel with entries provides to the suite, created for every case. */
export interface InboundSubject {
  readonly engine: Engine;
  /** The channel as decisions name it. */
  readonly via: string;
  /** Has Ana ask the managers for a tool whose arguments can be changed, and gives the confirmation's id. */
  readonly ask: (question?: InboundQuestion) => Promise<string>;
  /**
   * The request by which a person answers with the message that they got; another one each time. Undefined: they got none, or it offers
   * no such answer.
   */
  readonly answer: (id: string, answering: InboundAnswering) => Promise<Request | undefined>;
  /** Such requests about a question, to be answered by Bob; `other` is another question to him. */
  readonly fraud: (
    kind: InboundFraud,
    about: { readonly id: string; readonly other: string },
  ) => Promise<readonly InboundAttempt[] | NotApplicable>;
  /** The approval of somebody who got Bob's message from him. */
  readonly forwarded: (id: string) => Promise<Request | NotApplicable>;
  /** Sends a request to the server, or to one that knows these people. */
  readonly send: (request: Request, people?: readonly InboundPerson[]) => Promise<InboundReply>;
  /** Sends a request to another server on the same ledger. */
  readonly sendElsewhere: (request: Request) => Promise<InboundReply>;
  /** Sends a request to a server with the same secrets and people, whose ledger is another tenant's. */
  readonly sendToOtherTenant: (request: Request) => Promise<InboundReply>;
  /** How a request that was taken is answered when it comes again. */
  readonly repeated: readonly number[];
  /** How Bob is answered who has lost his role, is no longer configured, or has moved. */
  readonly lost: readonly [role: InboundLoss, person: InboundLoss, account: InboundLoss];
  /** All text that Bob was shown of a question, in the message and at the door. */
  readonly shown: (id: string) => Promise<string>;
  /** Programs read it, so texts are data in it and stay as they are. */
  readonly sendsData?: true;
  /** How often calls have run. */
  readonly ran: () => number;
}

/** One requirement of an inbound door; `run` throws if it is not met. */
export interface InboundCase {
  /** A claim about behaviour. */
  readonly name: string;
  readonly run: (subject: InboundSubject) => Promise<void>;
}

/** In the arguments of every question: no refused request is answered with it. */
const PRIVATE = "account-4711";
const ARGS = { to: PRIVATE, amount: 5 };
const AT_ONCE = 10;
const ROUNDS = 2;
const LONG = "x".repeat(30_000);
const APPROVE = { person: "bob", confirmed: true } as const;
const MEG = {
  id: "meg",
  roles: ["manager"],
  kind: "token",
  scopes: ["decide"],
  authenticated: true,
} as const;
const TRICKS = "\u202Egnp.exe <!channel> @here \u2066b\u200Bc\u00ADd\uFEFFe";
const HIDDEN = /[\u00AD\u200B-\u200F\u2028-\u202E\u2066-\u2069\uFEFF]/;

async function genuine(subject: InboundSubject, id: string, answering = APPROVE): Promise<Request> {
  const request = await subject.answer(id, answering);
  ok(request !== undefined, "It can be answered.");
  return request;
}

/** Sends what must be refused. */
async function refused(
  { send }: InboundSubject,
  request: Request,
  people?: readonly InboundPerson[],
): Promise<InboundReply> {
  const reply = await send(request, people);
  ok(reply.status < 500, `It was answered with ${reply.status}.`);
  ok(!reply.text.includes(PRIVATE), "It shows nothing of the question.");
  return reply;
}

async function assertOpen({ engine, ran }: InboundSubject, id: string): Promise<void> {
  const { status, votes } = await engine.confirmation(id);
  deepStrictEqual([status, votes, ran()], ["requested", [], 0]);
}

/** What was refused was refused for what it was: an answer of the person who was asked still decides. */
async function assertDecidable(subject: InboundSubject, id: string): Promise<void> {
  await subject.send(await genuine(subject, id));
  deepStrictEqual(whoDecided(await subject.engine.confirmation(id)), ["bob", true]);
}

function whoDecided({ decision }: Confirmation): unknown {
  return decision && [decision.by.id, decision.confirmed];
}

async function refusals({ engine }: InboundSubject): Promise<number> {
  const records = await engine.ledger.journal.records({ after: 0, limit: 1_000 });
  return records.filter(({ kind }) => kind === "decision-refused").length;
}

/** A case about requests that must decide nothing. */
function fraudCase(name: string, kind: InboundFraud): InboundCase {
  return {
    name,
    async run(subject) {
      const [id, other] = [await subject.ask({ args: ARGS }), await subject.ask({ args: ARGS })];
      const attempts = await subject.fraud(kind, { id, other });
      if (typeof attempts === "string") return;
      ok(attempts.length > 0);
      for (const [place, { request, status, says = "" }] of attempts.entries()) {
        const reply = await refused(subject, request);
        strictEqual(reply.status, status, `Attempt ${place}: ${reply.text}`);
        ok(reply.text.includes(says), `Attempt ${place}: ${reply.text}`);
        await assertOpen(subject, id);
        await assertOpen(subject, other);
      }
      if (kind === "strange") strictEqual(await refusals(subject), attempts.length);
      await assertDecidable(subject, id);
    },
  };
}

/** Those who are configured, with something else for Bob. */
function withBob(bob: readonly InboundPerson[]): readonly InboundPerson[] {
  return [...INBOUND_PEOPLE.filter(({ id }) => id !== "bob"), ...bob];
}

/** All requirements of inbound doors, one case each, for any test runner. */
export const inboundContract: readonly InboundCase[] = [
  {
    name: "an answer decides as the person whom the configuration names, and the record says by which way",
    async run(subject) {
      const { engine, via } = subject;
      const [one, other] = [await subject.ask(), await subject.ask()];
      strictEqual((await subject.send(await genuine(subject, one))).status, 200);
      const said = await subject.answer(other, { person: "meg", confirmed: false, reason: TRICKS });
      ok(said !== undefined);
      strictEqual((await subject.send(said)).status, 200);
      const [approved, denied] = [await engine.confirmation(one), await engine.confirmation(other)];
      deepStrictEqual(
        [whoDecided(approved), whoDecided(denied)],
        [
          ["bob", true],
          ["meg", false],
        ],
      );
      for (const { decision } of [approved, denied])
        deepStrictEqual(
          [decision?.by.kind, decision?.by.authenticated, decision?.via],
          ["channel", true, via],
        );
      strictEqual(denied.decision?.reason, TRICKS);
    },
  },
  {
    name: "a request that is sent again, and many times at once, decides once and runs nothing twice",
    async run(subject) {
      const id = await subject.ask();
      const request = await genuine(subject, id);
      const all = Array.from({ length: AT_ONCE }, () => request.clone());
      const replies = await Promise.all(all.map((each) => subject.send(each)));
      ok(replies.some(({ status }) => status === 200));
      for (const { status } of [...replies, await subject.send(request)])
        ok(status === 200 || subject.repeated.includes(status), String(status));
      deepStrictEqual(whoDecided(await subject.engine.confirmation(id)), ["bob", true]);
      const { call } = (await subject.engine.ledger.load({ confirmation: id })) ?? {};
      await subject.engine.finished(call?.id ?? "");
      strictEqual(subject.ran(), 1);
    },
  },
  {
    name: "whoever answers twice has one vote, and no second answer changes what was decided",
    async run(subject) {
      const [one, other] = [await subject.ask({ count: 2 }), await subject.ask()];
      const answers = [await genuine(subject, one), await genuine(subject, one)];
      for (const answer of answers) ok((await subject.send(answer)).status < 500);
      const { status, votes } = await subject.engine.confirmation(one);
      deepStrictEqual([status, votes.length, subject.ran()], ["requested", 1, 0]);
      const late = await subject.answer(other, { person: "bob", confirmed: false });
      ok(late !== undefined);
      await assertDecidable(subject, other);
      await refused(subject, late);
      deepStrictEqual(whoDecided(await subject.engine.confirmation(other)), ["bob", true]);
    },
  },
  {
    name: "answers that reach two servers at once count as if they came one after the other",
    async run(subject) {
      const { engine } = subject;
      for (let round = 0; round < ROUNDS; round += 1) {
        const id = await subject.ask({ count: 2 });
        const yes = await genuine(subject, id);
        const no = await subject.answer(id, { person: "bob", confirmed: false });
        ok(no !== undefined);
        const replies = await Promise.all([
          subject.send(yes.clone()),
          subject.sendElsewhere(yes),
          subject.send(no.clone()),
          subject.sendElsewhere(no),
        ]);
        ok(replies.every((reply) => reply.status < 500));
        const { votes } = await engine.confirmation(id);
        deepStrictEqual([votes.length, votes[0]?.by.id, subject.ran()], [1, "bob", 0]);
        const all = await engine.ledger.journal.records({ after: 0, limit: 10_000 });
        const about = all.filter(({ body }) => JSON.stringify(body).includes(id));
        const times = (wanted: string): number => about.filter(({ kind }) => kind === wanted).length;
        deepStrictEqual([times("confirmation-approved"), times("call-started")], [0, 0]);
        ok(times("vote-cast") <= 1 && times("confirmation-denied") <= 1);
      }
    },
  },
  {
    name: "what one tenant gave out decides nothing at another tenant, whose secrets are the same",
    async run(subject) {
      const id = await subject.ask({ args: ARGS });
      const { status, text } = await subject.sendToOtherTenant(await genuine(subject, id));
      ok(status < 500 && !text.includes(PRIVATE), `${status}: ${text}`);
      await assertOpen(subject, id);
      await assertDecidable(subject, id);
    },
  },
  fraudCase("forged, altered, old and early requests are refused and decide nothing", "forged"),
  fraudCase("requests of another workspace, app or origin are refused and decide nothing", "foreign"),
  fraudCase("what was given to another question, message or person decides nothing", "copied"),
  fraudCase("a message that somebody else edited approves nothing", "edited"),
  fraudCase("a stranger decides nothing, and that is journalled", "strange"),
  fraudCase("a name that only looks like an approver's decides nothing", "alike"),
  fraudCase("an approval that the medium does not offer decides nothing", "forced"),
  {
    name: "whoever gets a forwarded message decides as its recipient, or nothing",
    async run(subject) {
      const id = await subject.ask();
      const request = await subject.forwarded(id);
      if (typeof request === "string") return;
      const { status } = await subject.send(request);
      const decided = whoDecided(await subject.engine.confirmation(id));
      deepStrictEqual(decided, status === 200 ? ["bob", true] : undefined);
    },
  },
  {
    name: "a person whom the rule does not ask decides nothing, and that is journalled",
    async run(subject) {
      const id = await subject.ask({ args: ARGS });
      const request = await subject.answer(id, { person: "ana", confirmed: true });
      if (request !== undefined) {
        await refused(subject, request);
        strictEqual(await refusals(subject), 1);
      }
      await assertOpen(subject, id);
      await assertDecidable(subject, id);
    },
  },
  {
    name: "who is no longer an approver, or no longer known by this account, decides nothing with the message that they have, and that is journalled",
    async run(subject) {
      const id = await subject.ask({ args: ARGS });
      const lost = [[{ id: "bob" }], [], [{ id: "bob", roles: ["manager"], moved: true as const }]];
      for (const [place, bob] of lost.entries()) {
        const reply = await refused(subject, await genuine(subject, id), withBob(bob));
        const { status, says = "" } = subject.lost[place] ?? { status: 0 };
        deepStrictEqual([reply.status, reply.text.includes(says)], [status, true], reply.text);
        await assertOpen(subject, id);
        strictEqual(await refusals(subject), place + 1);
      }
      // It was their right that was missing.
      await assertDecidable(subject, id);
    },
  },
  {
    name: "an answer to a question whose arguments were changed since decides neither the old nor the new one",
    async run(subject) {
      const { engine } = subject;
      const id = await subject.ask({ args: ARGS, count: 2 });
      const request = await genuine(subject, id);
      const { confirmation } = await engine.approve(id, { by: MEG, args: { ...ARGS, amount: 7 } });
      ok(confirmation.id !== id);
      await refused(subject, request);
      const { status, votes } = await engine.confirmation(confirmation.id);
      deepStrictEqual([status, votes.map(({ by }) => by.id)], ["requested", ["meg"]]);
      strictEqual((await engine.confirmation(id)).status, "cancelled");
      strictEqual(subject.ran(), 0);
    },
  },
  {
    name: "a question that was decided or withdrawn elsewhere stays as it is",
    async run(subject) {
      const { engine } = subject;
      const [denied, withdrawn] = [await subject.ask({ args: ARGS }), await subject.ask({ args: ARGS })];
      const requests = [await genuine(subject, denied), await genuine(subject, withdrawn)];
      await engine.deny(denied, { by: MEG, reason: "no" });
      await engine.cancel(withdrawn, { by: MEG, reason: "no" });
      for (const request of requests) await refused(subject, request);
      deepStrictEqual(whoDecided(await engine.confirmation(denied)), ["meg", false]);
      strictEqual((await engine.confirmation(withdrawn)).status, "cancelled");
      strictEqual(subject.ran(), 0);
    },
  },
  {
    name: "what a person is shown hides and reorders nothing",
    async run(subject) {
      const id = await subject.ask({ hint: TRICKS, args: { [TRICKS]: TRICKS } });
      const shown = await subject.shown(id);
      ok(shown.includes("gnp.exe"));
      if (!subject.sendsData) ok(!HIDDEN.test(shown), shown);
    },
  },
  {
    name: "what does not fit can be approved only where all of it is shown",
    async run(subject) {
      const id = await subject.ask({ args: { text: LONG } });
      const request = await subject.answer(id, APPROVE);
      strictEqual(request !== undefined, (await subject.shown(id)).includes(LONG));
      const forced = await subject.fraud("forced", { id, other: id });
      for (const each of typeof forced === "string" ? [] : forced) await refused(subject, each.request);
      await assertOpen(subject, id);
    },
  },
];
