import { userInfo } from "node:os";
import { expect, test } from "vitest";
import { createApp } from "../../../src/http/index.ts";
import { Agent, type Policy, type PrincipalInput, Runner, tool } from "../../../src/index.ts";
import { scripted } from "../../../src/models/scripted/index.ts";
import { AdkClient, answer, asked } from "../../support/http/adk-client.ts";
import { makeFolder } from "../../support/processes/command-line.ts";
import { useResources } from "../../support/resources.ts";
import { approvalOf, askedIn, startA2aServer, stateOf, taskIn, Wire } from "../a2a/a2a-server.ts";

const resources = useResources();

/** Two of these people must approve what the tools do. */
function twoOf(...users: readonly string[]): Policy {
  return () => ({
    outcome: "confirm",
    reason: "four eyes",
    requirements: [{ from: { users }, count: 2 }],
  });
}

const scopes = ["run", "read", "decide"];
const PEOPLE: { readonly [name: string]: PrincipalInput } = {
  ana: { id: "ana", kind: "token", scopes },
  bob: { id: "bob", kind: "token", scopes },
  proxy: { id: "proxy", kind: "token", scopes: [...scopes, "act-as"] },
};

/** What the question says of its votes. */
async function votesOn(runner: Runner, id: string) {
  const { status, votes, requirements } = await runner.confirmation(id);
  return {
    status,
    by: votes.map(({ by, via }) => `${by.id} ${via}`),
    approved: requirements.map(({ approved }) => approved),
  };
}

test("an answer on the ADK's route is one vote, also if a service sends it for that person; /v1 gives the other", async () => {
  let paid = 0;
  const pay = tool({
    name: "pay",
    description: "Pays.",
    execute: () => {
      paid += 1;
      return { paid: true };
    },
  });
  const model = scripted(({ contents }) =>
    contents.at(-1)?.parts.some(({ functionResponse }) => functionResponse !== undefined)
      ? "Paid."
      : [{ functionCall: { name: "pay", args: {} } }],
  );
  const runner = new Runner({
    agent: new Agent({ name: "cashier", model, tools: [pay] }),
    ledger: "memory:",
    policy: twoOf("ana", "proxy", "bob"),
  });
  resources.add(() => runner.close());
  const app = createApp({
    apps: { cashier: runner },
    publicUrl: "https://sign.example",
    authenticate: (request) => PEOPLE[request.headers.get("x-as") ?? ""],
  });
  const send = async (request: Request): Promise<Response> => app.fetch(request);
  const as = (name: string): AdkClient =>
    new AdkClient(
      { send, url: "https://sign.example" },
      { app: "cashier", user: "ana", headers: { "x-as": name } },
    );
  const ana = as("ana");
  await ana.createSession("s1");
  const [id = ""] = asked((await ana.run("s1", "pay")).events);
  const first = await ana.run("s1", answer(id, { confirmed: true }));
  expect(JSON.stringify(first)).toContain("more are needed");
  const open = { status: "requested", by: ["ana adk"], approved: [1] };
  expect(await votesOn(runner, id)).toEqual(open);
  await ana.run("s1", answer(id, { confirmed: true }));
  await as("proxy").run("s1", answer(id, { confirmed: true }));
  expect(await votesOn(runner, id)).toEqual(open);
  const taken = await as("ana").json("POST", `/v1/confirmations/${id}/vote-withdrawal`, {});
  expect(taken).toMatchObject({ status: "requested", votes: [] });
  await ana.run("s1", answer(id, { confirmed: true }));
  expect(await runner.withdrawVote(id, { by: { id: "ana" } })).toMatchObject({ votes: [] });
  await expect(runner.withdrawVote(id, { by: { id: "carl" } })).rejects.toMatchObject({
    code: "not-an-approver",
  });
  await ana.run("s1", answer(id, { confirmed: true }));
  expect(paid).toBe(0);
  const last = await as("bob").json("POST", `/v1/confirmations/${id}/decision?wait=10`, { confirmed: true });
  expect(last).toMatchObject({ status: "succeeded", votes: [{ by: { id: "ana" } }, { by: { id: "bob" } }] });
  expect(paid).toBe(1);
});

test("an answer over A2A is one vote; the task waits for the other, and goes on when it is given elsewhere", async () => {
  const server = await startA2aServer(resources, {
    login: true,
    decisions: true,
    policy: twoOf("ana", "bob"),
  });
  const wire = new Wire(server, { hitl: true, as: { ...PEOPLE["ana"], id: "ana" } });
  const task = await wire.order({ id: "call-1", name: "delete_file", args: { path: "a" } });
  const [id = ""] = askedIn(task);
  for (const _ of ["once", "again"]) {
    const waiting = taskIn(await wire.answer(task, approvalOf(task)));
    expect(stateOf(waiting)).toBe("input-required");
    expect(JSON.stringify(waiting.status.message)).toContain("1 of 2 from ana or bob");
  }
  expect(await votesOn(server.runner, id)).toEqual({
    status: "requested",
    by: ["ana a2a"],
    approved: [1],
  });
  const agent = new Wire(server, { hitl: true, as: { id: "bob", kind: "agent", scopes } });
  expect((await agent.answer(task, approvalOf(task))).error).toBeDefined();
  expect(server.ran).toEqual([]);
  const { finished } = await server.runner.approve(id, { by: { id: "bob" } });
  await finished;
  expect(stateOf(taskIn(await wire.get(task.id)))).toBe("completed");
  expect(server.ran).toHaveLength(1);
});

test("the command line votes, shows how far it is, withdraws the vote and votes again", async () => {
  const folder = makeFolder();
  const me = `local:${userInfo().username}`;
  const id = await folder.withEngine(
    async (engine) => {
      const pay = engine.gate("pay", { requireConfirmation: true }, async () => "paid");
      const outcome = await pay({}, { key: "order-1", by: { id: "ana" } });
      return outcome.status === "pending" ? outcome.confirmation.id : "";
    },
    twoOf(me, "bob"),
  );
  const voted = folder.run(["approve", id]);
  expect(voted).toMatchObject({ code: 0, stderr: "" });
  expect(voted.stdout.replaceAll(/\s+/g, " ")).toContain(`So far: 1 of 2 from ${me} or bob.`);
  expect(folder.run(["withdraw-vote", id]).stdout).toContain("is withdrawn. The question is open.");
  const again = folder.json(["approve", id]);
  expect(again).toMatchObject({ status: "requested", votes: [{ by: { id: me }, via: "cli" }] });
  const ran = await folder.withEngine(
    async (engine) => {
      let entered = 0;
      engine.gate("pay", { requireConfirmation: true }, async () => {
        entered += 1;
        return "paid";
      });
      const { finished } = await engine.approve(id, { by: { id: "bob" } });
      await finished;
      return entered;
    },
    twoOf(me, "bob"),
  );
  expect(ran).toBe(1);
  const late = folder.run(["withdraw-vote", id]);
  expect(late.code).not.toBe(0);
  expect(late.stderr).toContain("votes can be withdrawn only before the last one");
});
