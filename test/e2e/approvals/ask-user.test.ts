import { describe, expect, test } from "vitest";
import { formOf } from "../../../src/cli/chat/payload-form.ts";
import type { Confirmation, JsonObject } from "../../../src/index.ts";
import { AdkClient, answer, asked, told } from "../../support/http/adk-client.ts";
import { useResources } from "../../support/resources.ts";
import { type A2aServer, startA2aServer } from "../a2a/a2a-server.ts";

const resources = useResources();

const QUESTIONS = [
  { question: "Which region?", choices: ["eu", "us"] },
  { question: "Which add-ons?", choices: ["backup", "audit"], multiple: true },
  { question: "Anything else?" },
];
const CALL = JSON.stringify([{ id: "q", name: "ask_user", args: { questions: QUESTIONS } }]);
const ANSWERS = { answer_1: "eu", answer_2: ["backup", "audit"], answer_3: "cheap" };
const SAID =
  'ask_user: {"answers":[{"question":"Which region?","answer":["eu"]},' +
  '{"question":"Which add-ons?","answer":["backup","audit"]},{"question":"Anything else?","answer":["cheap"]}]}';

async function askOnce({ runner }: A2aServer): Promise<Confirmation> {
  const { pending } = await runner.send(CALL, { user: "local", session: "s1" });
  const [question] = pending;
  if (question === undefined) throw new Error("Nothing is asked.");
  return question;
}

async function post(server: A2aServer, path: string, body: JsonObject): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return fetch(new URL(path, server.url), { method: "POST", headers, body: JSON.stringify(body) });
}

describe("the questions of ask_user", () => {
  test("are a confirmation that is known by its question's name, with a form for the answers", async () => {
    const question = await askOnce(await startA2aServer(resources));
    expect(question).toMatchObject({
      tool: "ask_user",
      question: "ask_user",
      askedByTool: true,
      args: { questions: QUESTIONS },
    });
    expect(question.hint).toBe("Which region?\nWhich add-ons?\nAnything else?");
    expect(Object.keys((question.schema?.["properties"] ?? {}) as JsonObject)).toEqual([
      "answer_1",
      "answer_2",
      "answer_3",
    ]);
  });

  test("are answered by the approvals API", async () => {
    const server = await startA2aServer(resources);
    const { id } = await askOnce(server);
    const decided = await post(server, `/v1/confirmations/${id}/decision?wait=20`, {
      confirmed: true,
      payload: ANSWERS,
    });
    expect(decided.status).toBe(200);
    expect(await decided.json()).toMatchObject({ status: "succeeded", decision: { payload: ANSWERS } });
  });

  test("are answered by an ADK client", async () => {
    const server = await startA2aServer(resources);
    const client = new AdkClient({ url: new URL(server.url).origin }, { app: "desk", user: "local" });
    await client.createSession("s1");
    const [id = ""] = asked((await client.run("s1", CALL)).events);
    const { events } = await client.run("s1", answer(id, { confirmed: true, payload: ANSWERS }));
    expect(told(events).at(-1)).toBe(SAID);
  });

  test("are asked for one by one at a terminal, in the user's own words", async () => {
    const { schema = {} } = await askOnce(await startA2aServer(resources));
    const form = formOf({ schema });
    const fields = form?.kind === "fields" ? form.fields : [];
    expect(fields.map(({ prompt }) => prompt)[0]).toContain("Which region? (eu | us)");
    const typed = ["somewhere else", '["backup","audit"]', ""];
    const read = await Promise.all(fields.map((field, index) => field.read(typed[index] ?? "")));
    expect(read).toEqual([
      { ok: true, value: "somewhere else" },
      { ok: true, value: ["backup", "audit"] },
      { ok: true, value: undefined },
    ]);
    expect(await fields[1]?.read("backup")).toEqual({ ok: true, value: "backup" });
  });

  test("that are declined are reported to the model, and nothing waits any more", async () => {
    const server = await startA2aServer(resources);
    const { id } = await askOnce(server);
    const { finished } = await server.runner.deny(id, { by: { id: "local" }, reason: "busy" });
    expect((await finished).text).toBe(
      'ask_user: {"error":"tool call was rejected by the user","reason":"busy"}',
    );
    expect(await server.runner.pending()).toEqual([]);
  });

  test("need not all be answered, and one answer to a question that takes several is taken", async () => {
    const server = await startA2aServer(resources);
    const { id } = await askOnce(server);
    const { finished } = await server.runner.approve(id, {
      by: { id: "local" },
      payload: { answer_2: "audit" },
    });
    expect((await finished).text).toContain(
      '{"question":"Which add-ons?","answer":["audit"]},{"question":"Anything else?","answer":[]}',
    );
  });

  test.each<[string, JsonObject]>([
    ["no payload", { confirmed: true }],
    [
      "the arguments, as the ADK's own page sends them",
      { confirmed: true, payload: { questions: QUESTIONS } },
    ],
    ["a number", { confirmed: true, payload: { answer_1: 7 } }],
    ["several answers where one is taken", { confirmed: true, payload: { answer_1: ["eu", "us"] } }],
    ["an answer too many", { confirmed: true, payload: { ...ANSWERS, answer_4: "x" } }],
    ["a text", { confirmed: true, payload: "eu" }],
  ])("are not answered by %s, and stay open", async (_, body) => {
    const server = await startA2aServer(resources);
    const { id } = await askOnce(server);
    expect((await post(server, `/v1/confirmations/${id}/decision`, body)).status).toBe(422);
    expect(await server.runner.pending()).toHaveLength(1);
  });
});

test("a model that asks nothing, or not in questions, is told so and asks nobody", async () => {
  const { runner } = await startA2aServer(resources);
  for (const args of [{}, { questions: [] }, { questions: ["Why?"] }, { questions: [{ choices: ["a"] }] }]) {
    const turn = await runner.send(JSON.stringify([{ name: "ask_user", args }]), { user: "ana" });
    expect(turn.pending).toEqual([]);
    expect(turn.text).toContain("error");
  }
});
