import { describe, expect, test } from "vitest";
import { createA2aApp } from "../../src/a2a/index.ts";
import { SCOPES, type Scope } from "../../src/http/index.ts";
import { loginIn } from "../support/http/served.ts";
import { type AttackedServer, type Ids, ORIGIN, type Sent, startAttackedServer } from "./attacked-server.ts";

/** Somebody who may do much and must not decide. */
interface Caller {
  readonly name: string;
  readonly headers: (attacked: AttackedServer) => Promise<Record<string, string>>;
}

const ALL_BUT_DECIDE = SCOPES.filter((scope) => scope !== "decide");

function withToken(
  scopes: readonly Scope[],
  whose?: Parameters<AttackedServer["scoped"]>[1],
): Caller["headers"] {
  return async (attacked) => ({ authorization: `Bearer ${await attacked.scoped(scopes, whose)}` });
}

const CALLERS: readonly Caller[] = [
  { name: "a token of hers to run", headers: withToken(["run"]) },
  { name: "a token of hers to run and read", headers: withToken(["run", "read"]) },
  { name: "a token of hers with every scope but decide", headers: withToken(ALL_BUT_DECIDE) },
  { name: "a service that acts as anybody", headers: withToken(ALL_BUT_DECIDE, { user: "service" }) },
  { name: "an agent under her name with every scope", headers: withToken(SCOPES, { kind: "agent" }) },
  { name: "an agent that acts as her", headers: withToken(SCOPES, { user: "robot", kind: "agent" }) },
  { name: "a browser that an agent's token logged in", headers: agentCookie },
];

async function agentCookie(attacked: AttackedServer): Promise<Record<string, string>> {
  const token = await attacked.scoped(SCOPES, { kind: "agent" });
  const answer = await attacked.send({ method: "POST", path: "/auth/login", body: { token } });
  return { ...(await loginIn(answer)), origin: ORIGIN };
}

/** One route, and one thing to do there that needs the scope. */
interface Act {
  readonly name: string;
  readonly sent: (ids: Ids) => Omit<Sent, "headers">;
}

function answerOf(confirmed: boolean, id: string): object {
  const functionResponse = { id, name: "adk_request_confirmation", response: { confirmed } };
  const newMessage = { role: "user", parts: [{ functionResponse }] };
  return { appName: "desk", userId: "ana", sessionId: "s-pay", newMessage };
}

function post(path: string, body: unknown): Omit<Sent, "headers"> {
  return { method: "POST", path, body };
}

const ACTS: readonly Act[] = [
  ...[true, false].flatMap((confirmed): readonly Act[] => {
    const verb = confirmed ? "approve" : "deny";
    return [
      {
        name: `${verb} at /v1`,
        sent: ({ pay }) => post(`/v1/confirmations/${pay}/decision`, { confirmed }),
      },
      {
        name: `${verb} among many at /v1`,
        sent: ({ pay }) => post("/v1/decisions", { decisions: [{ id: pay, confirmed, version: 1 }] }),
      },
      { name: `${verb} at /run`, sent: ({ pay }) => post("/run", answerOf(confirmed, pay)) },
      { name: `${verb} at /run_sse`, sent: ({ pay }) => post("/run_sse", answerOf(confirmed, pay)) },
      {
        name: `${verb} at /agui`,
        sent: ({ pay }) =>
          post("/agui/desk", {
            threadId: "s-pay",
            runId: "r-1",
            messages: [],
            resume: [{ interruptId: pay, status: "resolved", payload: { approved: confirmed } }],
          }),
      },
      {
        name: `${verb} at the reasoning engine`,
        sent: ({ pay }) =>
          post("/api/reasoning_engine", {
            class_method: "async_stream_query",
            input: answerOf(confirmed, pay),
          }),
      },
    ];
  }),
  {
    name: "amend at /v1",
    sent: ({ pay }) => post(`/v1/confirmations/${pay}/decision`, { confirmed: true, args: { amount: 6 } }),
  },
  { name: "withdraw", sent: ({ pay }) => post(`/v1/confirmations/${pay}/cancellation`, {}) },
  {
    name: "settle a confirmed call",
    sent: ({ lost }) => post(`/v1/confirmations/${lost}/settlement`, { as: "retry", attempt: 1 }),
  },
  {
    name: "settle a call nobody was asked about",
    sent: ({ stray }) => post(`/v1/calls/${stray}/settlement`, { as: "retry", attempt: 1 }),
  },
];

describe.each(CALLERS)("$name", ({ headers }) => {
  test.each(ACTS)("cannot $name; the attempt is journalled", async ({ sent }) => {
    const attacked = await startAttackedServer();
    const said = { ...sent(attacked.ids), headers: await headers(attacked) };
    expect(await recordsOf(attacked, () => attacked.send(said))).toEqual(["decision-refused"]);
  });
});

/** Sees that a request came to nothing, now and after a worker's round; gives what it left in the journal. */
async function recordsOf(
  attacked: AttackedServer,
  attack: () => Promise<Response>,
): Promise<readonly string[]> {
  const before = { tables: attacked.dump(), journal: await attacked.journal(), runs: attacked.runs() };
  const told = await attack();
  expect(await told.text()).toMatch(
    /"code":"(?:forbidden|not-an-approver|unknown-\w+)"|An agent may not|have the scope \\"decide/,
  );
  expect(attacked.dump()).toEqual(before.tables);
  const added = (await attacked.journal()).slice(before.journal.length);
  await attacked.engine.work({ once: true });
  expect(attacked.runs()).toBe(before.runs);
  return added.map(({ kind }) => kind);
}

describe("over A2A, where the server takes decisions", () => {
  test.each<[string, Parameters<AttackedServer["scoped"]>]>([
    ["a token without decide", [ALL_BUT_DECIDE]],
    ["an agent's token with every scope", [SCOPES, { kind: "agent" }]],
  ])("%s decides nothing", async (_, made) => {
    const attacked = await startAttackedServer();
    const a2a = createA2aApp({ apps: { desk: attacked.runner }, decisions: true, security: "bearer" });
    const send = attacked.with({ mounts: [a2a] });
    const headers = { authorization: `Bearer ${await attacked.scoped(...made)}` };
    const speak = (message: object): Promise<Response> => {
      const params = {
        message: { kind: "message", role: "user", messageId: crypto.randomUUID(), ...message },
      };
      const body = { jsonrpc: "2.0", id: 1, method: "message/send", params };
      return send({ method: "POST", path: "/a2a/desk", headers, body });
    };
    const begun = await speak({ parts: [{ kind: "text", text: "pay" }] });
    const { result } = (await begun.json()) as { result: { id: string; contextId: string } };
    for (const decision_type of ["approve", "deny"]) {
      const parts = [{ kind: "data", data: { decision_type } }];
      const said = { parts, taskId: result.id, contextId: result.contextId };
      expect(await recordsOf(attacked, () => speak(said))).toEqual(["decision-refused"]);
    }
  });
});

test("an answer without the scope is refused alone: the text beside it is sent", async () => {
  const attacked = await startAttackedServer();
  const { appName, userId, sessionId, newMessage } = answerOf(true, attacked.ids.pay) as {
    readonly newMessage: { readonly parts: readonly object[] };
  } & Record<string, unknown>;
  const parts = [...newMessage.parts, { text: "Are you there?" }];
  const answered = await attacked.send({
    ...post("/run", { appName, userId, sessionId, newMessage: { role: "user", parts } }),
    headers: { authorization: `Bearer ${await attacked.scoped(["run"])}` },
  });
  const events = JSON.stringify(await answered.json());
  expect([answered.status, events]).toMatchObject([200, expect.stringContaining("Done.") as string]);
  expect(events).toContain('"forbidden"');
  const { confirmation } = (await attacked.engine.ledger.load({ confirmation: attacked.ids.pay })) ?? {};
  expect(confirmation?.status).toBe("requested");
});

test("a caller with only `decide` may answer by /run, but send no text with it", async () => {
  const attacked = await startAttackedServer();
  const headers = { authorization: `Bearer ${await attacked.scoped(["decide"])}` };
  const decided = await attacked.send({ ...post("/run", answerOf(true, attacked.ids.pay)), headers });
  expect(decided.status).toBe(200);
  const { confirmation } = (await attacked.engine.ledger.load({ confirmation: attacked.ids.pay })) ?? {};
  expect(confirmation?.status).toBe("approved");
});

describe("deleting a session withdraws what is asked in it", () => {
  const path = "/apps/desk/users/ana/sessions/s-pay";

  test.each(CALLERS.filter(({ name }) => name.includes("acts as")))(
    "$name: not of somebody else, while something waits",
    async ({ headers }) => {
      const attacked = await startAttackedServer();
      const keyed = { ...(await headers(attacked)), "idempotency-key": "k-1" };
      const attack = { method: "DELETE", path, headers: keyed };
      expect(await recordsOf(attacked, () => attacked.send(attack))).toEqual(["decision-refused"]);
      const again = await attacked.send(attack);
      expect(again.status).toBe(403);
    },
  );

  test("the requester may, with the scope run", async () => {
    const attacked = await startAttackedServer();
    const headers = { authorization: `Bearer ${await attacked.scoped(["run"])}` };
    expect((await attacked.send({ method: "DELETE", path, headers })).status).toBe(204);
  });
});

test.each(["caller:ana", "caller:agent:shop", "local:root", "channel:slack"])(
  "a service that acts for people does not act for what is none: %s",
  async (user) => {
    const attacked = await startAttackedServer();
    const headers = { authorization: `Bearer ${attacked.token("service")}` };
    const session = post(`/apps/desk/users/${user}/sessions/s-new`, {});
    const proposal = post("/v1/calls", { key: "k", app: "shop", tool: "pay", args: {}, user });
    for (const sent of [session, proposal]) {
      const answer = await attacked.send({ ...sent, headers });
      expect([answer.status, await answer.json()]).toEqual([
        403,
        expect.objectContaining({ code: "forbidden" }),
      ]);
    }
  },
);
