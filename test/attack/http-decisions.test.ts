import { describe, expect, test } from "vitest";
import type { PrincipalInput } from "../../src/engine/index.ts";
import { type Auth, createAuth, SCOPES } from "../../src/http/index.ts";
import {
  type AttackedServer,
  type Ids,
  type Sent,
  startAttackedServer,
  type TokenName,
} from "./attacked-server.ts";

/** An answer as the ADK's clients send it. */
function answerTo(id: string, { user = "ana", session = "s-pay", app = "desk" } = {}): Omit<Sent, "method"> {
  const functionResponse = { id, name: "adk_request_confirmation", response: { confirmed: true } };
  const newMessage = { role: "user", parts: [{ functionResponse }] };
  return { path: "/run", body: { appName: app, userId: user, sessionId: session, newMessage } };
}

function decision(id: string, more: object = {}): Omit<Sent, "method"> {
  return { path: `/v1/confirmations/${id}/decision`, body: { confirmed: true, ...more } };
}

interface Attack {
  readonly name: string;
  readonly by: TokenName;
  readonly sent: (ids: Ids) => Omit<Sent, "method">;
  readonly status: number;
  readonly code: string;
  /** Somebody tried to decide what is not theirs. */
  readonly audited?: true;
}

const ATTACKS: readonly Attack[] = [
  {
    name: "whoever asked decides what somebody else has to, though she has the role",
    by: "ana",
    sent: ({ wire }) => decision(wire),
    status: 403,
    code: "not-an-approver",
    audited: true,
  },
  {
    name: "the same by an answer in her own session",
    by: "ana",
    sent: ({ wire }) => answerTo(wire, { session: "s-wire" }),
    status: 403,
    code: "not-an-approver",
    audited: true,
  },
  {
    name: "whoever may act for everybody decides for the one who asked",
    by: "service",
    sent: ({ wire }) => answerTo(wire, { session: "s-wire" }),
    status: 403,
    code: "not-an-approver",
    audited: true,
  },
  {
    name: "an administrator decides what is somebody else's",
    by: "service",
    sent: ({ pay }) => decision(pay),
    status: 403,
    code: "not-an-approver",
    audited: true,
  },
  {
    name: "a manager decides what is ana's to confirm",
    by: "maria",
    sent: ({ pay }) => decision(pay),
    status: 404,
    code: "unknown-confirmation",
    audited: true,
  },
  {
    name: "bob answers in ana's session",
    by: "bob",
    sent: ({ pay }) => answerTo(pay),
    status: 403,
    code: "forbidden",
    audited: true,
  },
  {
    name: "bob answers ana's question in a session of his own",
    by: "bob",
    sent: ({ pay }) => answerTo(pay, { user: "bob", session: "s-bob" }),
    status: 404,
    code: "unknown-confirmation",
  },
  {
    name: "bob says in the body that he is the boss",
    by: "bob",
    sent: ({ named }) => decision(named, { by: { id: "boss" } }),
    status: 422,
    code: "malformed-request",
  },
  {
    name: "what was denied is approved after all",
    by: "ana",
    sent: ({ denied }) => decision(denied),
    status: 409,
    code: "already-decided",
  },
  {
    name: "what is approved is not what was shown",
    by: "ana",
    sent: ({ pay }) => decision(pay, { version: 7 }),
    status: 412,
    code: "stale-version",
  },
  {
    name: "arguments are changed that nobody may change",
    by: "ana",
    sent: ({ pay }) => decision(pay, { args: { amount: 5_000 } }),
    status: 422,
    code: "arguments-mismatch",
  },
  {
    name: "`confirmed` is the word true",
    by: "ana",
    sent: ({ pay }) => ({ ...decision(pay), body: { confirmed: "true" } }),
    status: 422,
    code: "malformed-request",
  },
  {
    name: "`confirmed` is both false and true",
    by: "ana",
    sent: ({ pay }) => ({ ...decision(pay), body: '{"confirmed":false,"reason":"no","confirmed":true}' }),
    status: 400,
    code: "malformed-json",
  },
  {
    name: "the same among many, the second time in escapes",
    by: "ana",
    sent: ({ pay }) => ({
      path: "/v1/decisions",
      body: String.raw`{"decisions":[{"id":"${pay}","confirmed":false,"\u0063onfirmed":true}]}`,
    }),
    status: 400,
    code: "malformed-json",
  },
  {
    name: "the same in an answer",
    by: "ana",
    sent: ({ pay }) => {
      const { body, ...sent } = answerTo(pay);
      const twice = JSON.stringify(body).replace('"confirmed":true', '"confirmed":false,"confirmed":true');
      return { ...sent, body: twice };
    },
    status: 400,
    code: "malformed-json",
  },
  {
    name: "the same in an answer that is wrapped as a text",
    by: "ana",
    sent: ({ pay }) => {
      const response = { response: '{"confirmed":false,"confirmed":true}' };
      const parts = [{ functionResponse: { id: pay, name: "adk_request_confirmation", response } }];
      const names = { appName: "desk", userId: "ana", sessionId: "s-pay" };
      return { path: "/run", body: { ...names, newMessage: { role: "user", parts } } };
    },
    status: 422,
    code: "malformed-decision",
  },
  {
    name: "a call that ended is settled",
    by: "ana",
    sent: ({ denied }) => ({
      path: `/v1/confirmations/${denied}/settlement`,
      body: { as: "failed", error: "no" },
    }),
    status: 409,
    code: "not-settleable",
  },
];

test.each(ATTACKS)("$name: $status $code", async ({ by, sent, status, code, audited }) => {
  const attacked = await startAttackedServer();
  const before = { tables: attacked.dump(), journal: await attacked.journal(), runs: attacked.runs() };
  const headers = { authorization: `Bearer ${attacked.token(by)}` };
  const answer = await attacked.send({ method: "POST", headers, ...sent(attacked.ids) });
  expect({ status: answer.status, ...((await answer.json()) as object) }).toMatchObject({ status, code });
  expect(attacked.dump()).toEqual(before.tables);
  const added = (await attacked.journal()).slice(before.journal.length);
  expect(added.map(({ kind }) => kind)).toEqual(audited ? ["decision-refused"] : []);
  await attacked.engine.work({ once: true });
  expect(attacked.runs()).toBe(before.runs);
});

test("decided twice at once, it runs once, and both get the same answer", async () => {
  const attacked = await startAttackedServer();
  const before = attacked.runs();
  const headers = { authorization: `Bearer ${attacked.token("ana")}` };
  const request = { method: "POST", headers, ...decision(attacked.ids.pay) };
  const answers = await Promise.all([attacked.send(request), attacked.send(request), attacked.send(request)]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  await attacked.engine.finished(await callOf(attacked, attacked.ids.pay));
  expect(attacked.runs()).toBe(before + 1);
});

test("a person whom the rule allows decides, and is recorded as they logged in", async () => {
  const attacked = await startAttackedServer();
  for (const [by, id] of [
    ["maria", attacked.ids.wire],
    ["boss", attacked.ids.named],
    ["bob", attacked.ids.bobs],
  ] as const) {
    const headers = { authorization: `Bearer ${attacked.token(by)}` };
    const answer = await attacked.send({ method: "POST", headers, ...decision(id) });
    expect(await answer.json()).toMatchObject({
      decision: { by: { id: by, kind: "token", authenticated: true }, via: "api", confirmed: true },
    });
  }
});

test("who speaks for ana counts as having asked, beside her", async () => {
  const attacked = await startAttackedServer();
  const headers = { authorization: `Bearer ${attacked.token("service")}` };
  const answer = await attacked.send({ method: "POST", headers, ...answerTo(attacked.ids.pay) });
  expect(answer.status).toBe(200);
  const { confirmation } = (await attacked.engine.ledger.load({ confirmation: attacked.ids.pay })) ?? {};
  expect(confirmation?.votes).toMatchObject([{ by: { id: "service", onBehalfOf: "ana" }, via: "adk" }]);
});

describe("an agent that the host knows", () => {
  test.each<[string, (ids: Ids) => Omit<Sent, "method">]>([
    ["its own", ({ pay }) => decision(pay)],
    ["as a manager", ({ wire }) => decision(wire)],
    ["by an answer", ({ pay }) => answerTo(pay)],
    ["by withdrawing", ({ pay }) => ({ path: `/v1/confirmations/${pay}/cancellation`, body: {} })],
    [
      "by settling",
      ({ lost }) => ({ path: `/v1/confirmations/${lost}/settlement`, body: { as: "retry", attempt: 1 } }),
    ],
  ])("decides nothing: %s", async (_, sent) => {
    const attacked = await startAttackedServer();
    const before = { tables: attacked.dump(), runs: attacked.runs() };
    const answer = await attacked.with({ authenticate: agentLogin })({
      method: "POST",
      ...sent(attacked.ids),
    });
    expect(answer.status).toBe(403);
    expect(attacked.dump()).toEqual(before.tables);
    expect(attacked.runs()).toBe(before.runs);
  });
});

describe("without a login", () => {
  test("anybody confirms, and is shown as unauthenticated", async () => {
    const { attacked, send } = await openUnguarded();
    const answer = await send({ method: "POST", ...decision(attacked.ids.pay) });
    expect(await answer.json()).toMatchObject({
      decision: { by: { id: "local", kind: "local", authenticated: false } },
    });
  });

  test.each(["wire", "named"] as const)(
    "nobody approves what is somebody's to approve: %s",
    async (which) => {
      const { attacked, send } = await openUnguarded();
      const before = attacked.dump();
      const answer = await send({ method: "POST", ...decision(attacked.ids[which]) });
      expect(answer.status).toBe(403);
      expect(await answer.json()).toMatchObject({ code: "not-an-approver" });
      const onAdk = await send({
        method: "POST",
        ...answerTo(attacked.ids[which], { session: `s-${which}` }),
      });
      expect([onAdk.status, await onAdk.json()]).toMatchObject([
        403,
        { code: "not-an-approver", error: expect.any(String) as string },
      ]);
      expect(attacked.dump()).toEqual(before);
    },
  );

  test.each([
    ["a name that was pointed here", { host: "evil.test:8000" }, 421],
    ["a page elsewhere", { origin: "https://evil.test" }, 403],
    ["a page of another port", { origin: "http://localhost:3000" }, 403],
    ["a page elsewhere that hides it", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" }, 403],
    ["a form", { "content-type": "text/plain" }, 415],
  ])("%s decides and reads nothing", async (_, headers, status) => {
    const { attacked, send } = await openUnguarded();
    const before = attacked.dump();
    expect((await send({ method: "POST", ...decision(attacked.ids.pay), headers })).status).toBe(status);
    expect((await send({ method: "POST", ...answerTo(attacked.ids.pay), headers })).status).toBe(status);
    if (status !== 415) {
      for (const path of ["/v1/confirmations", "/apps/desk/users/ana/sessions"])
        expect((await send({ method: "GET", path, headers })).status).toBe(status);
    }
    expect(attacked.dump()).toEqual(before);
  });
});

describe("a form of a page elsewhere", () => {
  const WAYS = [
    { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" },
    { "sec-fetch-site": "same-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" },
    { "sec-fetch-site": "none", "sec-fetch-mode": "navigate" },
    { referer: "http://localhost:3000/" },
  ];
  test.each(WAYS)("%o: writes nothing, whatever type its body has", async (headers) => {
    const { attacked, send } = await openUnguarded();
    const before = attacked.dump();
    for (const type of ["application/json", "text/plain", "application/x-www-form-urlencoded"]) {
      for (const sent of [decision(attacked.ids.pay), answerTo(attacked.ids.pay)]) {
        const answer = await send({ method: "POST", ...sent, headers: { ...headers, "content-type": type } });
        expect([type, answer.status]).toEqual([type, 403]);
      }
    }
    expect(attacked.dump()).toEqual(before);
  });

  test.each([
    "text/plain",
    "multipart/form-data; boundary=x",
    "application/json, text/plain",
    "text/plain; application/json",
    "application/jsonp",
  ])("a body that calls itself %s is not read", async (type) => {
    const { attacked, send } = await openUnguarded();
    const headers = { "content-type": type };
    expect((await send({ method: "POST", ...decision(attacked.ids.pay), headers })).status).toBe(415);
  });
});

async function callOf({ engine }: AttackedServer, confirmation: string): Promise<string> {
  return (await engine.ledger.load({ confirmation }))?.call?.id ?? "";
}

/** The host's login: an agent that is called like ana, and may do what anybody may. */
function agentLogin(): PrincipalInput {
  return { id: "ana", kind: "agent", roles: ["manager"], scopes: SCOPES };
}

async function openUnguarded(): Promise<{
  readonly attacked: AttackedServer;
  readonly send: AttackedServer["send"];
}> {
  const attacked = await startAttackedServer();
  const auth: Auth = await createAuth({ mode: "none", ledger: attacked.engine.ledger });
  const send = attacked.with({ auth });
  return {
    attacked,
    send: (sent) => send({ ...sent, headers: { host: "localhost:8000", ...sent.headers } }),
  };
}
