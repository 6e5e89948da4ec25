import { describe, expect, test } from "vitest";
import { call, play } from "../../test/seeds/scripted-runner.ts";
import { type Confirmation, Engine } from "../engine/index.ts";
import { parsePolicy } from "../policy/index.ts";
import { CountersignError } from "../protocol/index.ts";
import { createLedger } from "../stores/index.ts";
import { Agent } from "./agents/index.ts";
import { Runner } from "./runner.ts";
import { tool } from "./tools/index.ts";

const ANA = { by: { id: "ana" } };
const EVE = { by: { id: "eve", kind: "agent" } } as const;

async function paused(): Promise<{ runner: Runner; engine: Engine; asked: Confirmation }> {
  const pay = tool({
    name: "pay",
    description: "Pays.",
    parameters: {
      type: "object",
      properties: { amount: { type: "integer" }, card: { type: "string" } },
    },
    secrets: ["/card"],
    requireConfirmation: true,
    execute: async () => ({ paid: true }),
  });
  const model = play([call("pay", { amount: 5, card: "4111" }, "1")], "Done.");
  const engine = new Engine({ ledger: await createLedger("memory:") });
  const agent = new Agent({ name: "till", model, tools: [pay] });
  const runner = new Runner({
    agent,
    engine,
    ledger: engine.ledger,
    models: () => Promise.reject(new Error("none")),
  });
  const turn = await runner.send("Pay 5", { user: "ana" });
  const [asked] = turn.pending;
  if (asked === undefined) throw new Error("It should ask.");
  return { runner, engine, asked };
}

type Api = Pick<
  Runner,
  "approve" | "deny" | "cancel" | "settle" | "settleCall" | "confirmation" | "decide" | "pending"
>;
type Act = (api: Api, id: string) => Promise<unknown>;

const REFUSED: readonly (readonly [string, string, Act])[] = [
  ["approve", "not-an-approver", (api, id) => api.approve(id, EVE)],
  ["approve what changed", "stale-version", (api, id) => api.approve(id, { ...ANA, version: 9 })],
  ["deny", "unknown-confirmation", (api) => api.deny("adk-nobody", ANA)],
  ["cancel", "forbidden", (api, id) => api.cancel(id, { ...EVE, reason: "off" })],
  ["settle", "not-settleable", (api, id) => api.settle(id, { as: "retry" }, ANA)],
  ["settle nothing", "unknown-confirmation", (api) => api.settle("adk-nobody", { as: "retry" }, ANA)],
  ["settleCall", "unknown-call", (api) => api.settleCall("nobody", { as: "retry" }, ANA)],
  ["confirmation", "unknown-confirmation", (api) => api.confirmation("adk-nobody")],
];

describe("Runner and Engine", () => {
  test.each(REFUSED)("refuse alike: %s, %s", async (_verb, code, act) => {
    const { runner, engine, asked } = await paused();
    const said = await Promise.all(
      [engine as unknown as Api, runner].map((api) =>
        act(api, asked.id).then(
          () => "taken",
          (error: unknown) => (CountersignError.isInstance(error) ? [error.code, error.message] : error),
        ),
      ),
    );
    expect(said[0]).toEqual([code, expect.any(String)]);
    expect(said[1]).toEqual(said[0]);
    await engine.close();
  });

  test("show the same values, and no record with its secrets", async () => {
    const { runner, engine, asked } = await paused();
    expect(await engine.pending({ app: "till", ...ANA })).toEqual([asked]);
    expect(await runner.pending(ANA)).toEqual([asked]);
    expect(await runner.confirmation(asked.id, ANA)).toEqual(asked);
    const decisions = [{ id: asked.id, confirmed: false, version: 7 }];
    const refused = [await engine.decide(decisions, ANA), await runner.decide(decisions, ANA)];
    expect(refused[0]).toEqual([
      { ok: false, code: "stale-version", message: expect.any(String) as string, confirmation: asked },
    ]);
    expect(refused[1]).toEqual(refused[0]);
    const cancelled = await runner.cancel(asked.id, { ...ANA, reason: "not needed" });
    expect(cancelled).toEqual(await engine.confirmation(asked.id, ANA));
    expect(JSON.stringify([asked, refused, cancelled])).not.toContain("4111");
    await engine.close();
  });

  test("answer the same decision again with the stored one, whichever of them took it", async () => {
    const { runner, engine, asked } = await paused();
    const first = await engine.approve(asked.id, ANA);
    expect(await first.finished).toMatchObject({ id: asked.id, status: "succeeded", result: { paid: true } });
    const again = await runner.approve(asked.id, ANA);
    expect([first.repeated, again.repeated]).toEqual([false, true]);
    expect(again.confirmation.decision).toEqual(first.confirmation.decision);
    expect((await again.finished).text).toBe("Done.");
    await engine.close();
  });
});

function models(): Promise<never> {
  return Promise.reject(new Error("none"));
}

describe("a policy with groups", () => {
  const policy = parsePolicy(
    "p",
    "groups: { finance: [ana, bob] }\npeople: { ana: [ana@sso] }\nrules: [{ id: a, then: confirm, require: [{ from: finance, count: 2 }] }]",
  );
  const pay = tool({ name: "pay", description: "Pays.", execute: async () => ({ paid: true }) });

  test("is refused for a Runner with a given engine: votes are counted by the engine's groups", async () => {
    const engine = new Engine({ ledger: await createLedger("memory:") });
    const agent = new Agent({ name: "till", model: play("Done."), tools: [pay] });
    expect(() => new Runner({ agent, engine, ledger: engine.ledger, models, policy })).toThrow(
      expect.objectContaining({ code: "invalid-option" }),
    );
    await engine.close();
  });

  test("of a Runner with an engine of its own is that engine's: it is judged once, and its people count", async () => {
    const agent = new Agent({ name: "till", model: play([call("pay", {}, "1")], "Done."), tools: [pay] });
    const runner = new Runner({ agent, ledger: await createLedger("memory:"), models, policy });
    const turn = await runner.send("Pay", { user: "rita" });
    const { id = "", why } = turn.pending[0] ?? {};
    expect(why).toEqual(["policy rule a"]);
    for (const by of ["ana", "ana@sso"]) {
      const [decided] = await runner.decide([{ id, confirmed: true }], { by: { id: by } });
      expect(decided).not.toMatchObject({ status: "approved" });
    }
    expect((await runner.confirmation(id)).requirements).toMatchObject([{ group: "finance", approved: 1 }]);
    await runner.approve(id, { by: { id: "bob" } });
    expect((await runner.confirmation(id)).status).not.toBe("requested");
    await runner.close();
  });
});
