import { describe, expect, test } from "vitest";
import { z } from "zod";
import { call, play, useRunners } from "../../../test/seeds/scripted-runner.ts";
import { wrapLedger } from "../../../test/support/ledger/ledger-proxy.ts";
import { Agent, createLedger, type JsonObject, type Ledger, type Runner, tool } from "../../index.ts";
import type { Hooks } from "../agents/hooks.ts";

const makeRunner = useRunners();
const byAna = { by: { id: "ana" } } as const;

type BeforeTool = NonNullable<Hooks["beforeTool"]>;

interface Scene {
  readonly runner: Runner;
  readonly paid: JsonObject[];
  readonly id: string;
}

async function scene(
  hooks: { readonly ofRunner?: BeforeTool; readonly ofAgent?: BeforeTool },
  sent: JsonObject = { to: "bo", amount: 500 },
): Promise<Scene> {
  const paid: JsonObject[] = [];
  const pay = tool({
    name: "pay",
    description: "Pays.",
    parameters: z.object({ to: z.string(), amount: z.coerce.number(), tenant: z.string().optional() }),
    requireConfirmation: true,
    amendable: true,
    execute: (args) => {
      paid.push({ ...args } as JsonObject);
      return { ok: true };
    },
  });
  const model = play([call("pay", sent)], "Done.");
  const { ofRunner, ofAgent } = hooks;
  const agent = new Agent({
    name: "a",
    model,
    tools: [pay],
    ...(ofAgent === undefined ? {} : { beforeTool: ofAgent }),
  });
  const runner = makeRunner({ agent, ...(ofRunner === undefined ? {} : { beforeTool: ofRunner }) });
  const { pending } = await runner.send("pay", { user: "ana" });
  return { runner, paid, id: String(pending[0]?.id) };
}

interface Refused {
  readonly code: string;
  readonly message: string;
}

/** What became of an amendment: the code it was refused with, or what ran. */
async function amend({ runner, id, paid }: Scene, args: JsonObject): Promise<unknown> {
  try {
    await (await runner.approve(id, { ...byAna, args })).finished;
    return paid;
  } catch (error) {
    expect(paid).toEqual([]);
    expect(await runner.pending()).toHaveLength(1);
    const { code, message } = error as Refused;
    return { code, message };
  }
}

const large = (args: JsonObject): boolean => Number(args["amount"]) > 1000;
const deny: BeforeTool = ({ args }) => (large(args) ? { error: "above the limit" } : undefined);
const answer: BeforeTool = ({ args }) => (large(args) ? { status: "queued for the night" } : undefined);
const fail: BeforeTool = ({ args }) => {
  if (large(args)) throw new Error("the limits are not there");
};

const strict: BeforeTool = ({ args }) =>
  typeof args["amount"] === "number" && args["amount"] > 1000 ? { error: "too much" } : undefined;
const cap: BeforeTool = ({ args }) => {
  if (large(args)) args["amount"] = 1000;
  args["tenant"] = "acme";
};
const ask: BeforeTool = ({ args, ctx }) => {
  if (large(args)) ctx.requestConfirmation({ hint: "A lot." });
};
const TICKET = { type: "object", properties: { ticket: { type: "string" } }, required: ["ticket"] };
const askForTicket: BeforeTool = ({ args, ctx }) => {
  if (large(args)) ctx.requestConfirmation({ schema: TICKET });
};
const count: BeforeTool = ({ ctx }) => {
  ctx.state.set("judged", Number(ctx.state.get("judged") ?? 0) + 1);
};

describe.each(["ofRunner", "ofAgent"] as const)("amended arguments, with the hook %s", (place) => {
  test.each<[string, BeforeTool, string]>([
    ["denies them", deny, "above the limit"],
    ["answers them", answer, "queued for the night"],
    ["fails at them", fail, "the limits are not there"],
  ])("do not run where it %s", async (_, hook, words) => {
    const made = await scene({ [place]: hook });
    const refused = (await amend(made, { to: "bo", amount: 5000 })) as Refused;
    expect(refused.code).toBe("policy-denied");
    expect(refused.message).toContain(words);
    expect(await amend(made, { to: "bo", amount: 900 })).toEqual([{ to: "bo", amount: 900 }]);
  });

  test("are judged as they would run, not as they were spelled", async () => {
    const made = await scene({ [place]: strict });
    expect(await amend(made, { to: "bo", amount: "5000" })).toMatchObject({ code: "policy-denied" });
  });

  test("never run as a hook rewrote them: what it makes of them has to be sent", async () => {
    const made = await scene({ [place]: cap });
    const refused = (await amend(made, { to: "bo", amount: 5000, tenant: "acme" })) as Refused;
    expect(refused.code).toBe("arguments-mismatch");
    expect(refused.message).toContain("amount");
    expect(await amend(made, { to: "bo", amount: 900, tenant: "evil" })).toMatchObject({
      code: "arguments-mismatch",
    });
    const capped = { to: "bo", amount: 1000, tenant: "acme" };
    expect(await amend(made, capped)).toEqual([capped]);
  });

  test("may be asked about by a hook: the approver has been", async () => {
    const made = await scene({ [place]: ask });
    const args = { to: "bo", amount: 5000 };
    expect(await amend(made, args)).toEqual([args]);
  });

  test("do not run where a hook would ask for something that nobody was asked for", async () => {
    const made = await scene({ [place]: askForTicket });
    expect(await amend(made, { to: "bo", amount: 5000 })).toMatchObject({ code: "arguments-mismatch" });
  });
});

test("what a hook writes down while it judges an amendment is not kept", async () => {
  const made = await scene({ ofAgent: count });
  expect(await amend(made, { to: "bo", amount: 5 })).toEqual([{ to: "bo", amount: 5 }]);
  const [{ id: sessionId } = { id: "" }] = await made.runner.sessionService.listSessions({ userId: "ana" });
  const session = await made.runner.sessionService.getSession({ userId: "ana", sessionId });
  expect(session?.state).toEqual({ judged: 1 });
});

test("a person is not asked again about a changed tool if a hook forbids the new one", async () => {
  const ledger = await createLedger("memory:");
  const paid: string[] = [];
  const make = (description: string, shared: Ledger): Runner =>
    makeRunner({
      ledger: shared,
      agent: new Agent({
        name: "a",
        model: play([call("pay", {})], "Done."),
        tools: [
          tool({ name: "pay", description, requireConfirmation: true, execute: () => void paid.push("x") }),
        ],
        beforeTool: ({ tool: { definition } }) =>
          definition.description === "Pays abroad." ? { error: "not abroad" } : undefined,
      }),
    });
  const { pending } = await make("Pays.", wrapLedger(ledger, { close: async () => {} })).send("pay", {
    user: "ana",
  });
  const now = make("Pays abroad.", ledger);
  const approval = now.approve(String(pending[0]?.id), byAna);
  await expect(approval).rejects.toMatchObject({ code: "definition-changed" });
  expect(await now.pending()).toEqual([]);
  expect(paid).toEqual([]);
});
