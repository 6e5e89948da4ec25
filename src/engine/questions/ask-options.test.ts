import { expect, test } from "vitest";
import { z } from "zod";
import { openEngineFixture } from "../../../test/attack/support/engine-fixture.ts";
import type { AskOptions, CallContext } from "../calls/call-context.ts";
import { checkedAsk } from "./ask-options.ts";

const ZOD = { schema: z.object({ days: z.number() }) } as unknown as AskOptions;

test.each<[string, unknown, string]>([
  ["a zod schema, which no other process could check", { schema: z.object({ days: z.number() }) }, "schema"],
  ["a schema of another library", { schema: Object.assign(() => true, { "~standard": {} }) }, "schema"],
  ["a schema that is not JSON", { schema: { type: undefined } }, "schema"],
  ["a payload that is not JSON", { payload: new Date(0) }, "payload"],
  ["a hint that is no text", { hint: 5 }, "hint"],
  ["no options at all", null, "options"],
])("a question is refused, naming the field, for %s", (_, options, field) => {
  const refusal = expect.objectContaining({ code: "invalid-option", details: { field } }) as Error;
  expect(() => checkedAsk(options as AskOptions)).toThrow(refusal);
});

test("a question with JSON Schema is taken as it stands", () => {
  const ask = { hint: "Days?", payload: { days: 0 }, schema: { type: "object", required: ["days"] } };
  expect(checkedAsk(ask)).toEqual(ask);
  expect(checkedAsk({})).toEqual({});
});

test.each<[string, (context: CallContext) => unknown]>([
  ["ctx.confirm", (ctx) => ctx.confirm("days", ZOD)],
  ["ctx.requestConfirmation", (ctx) => ctx.requestConfirmation(ZOD)],
])(
  "a tool that gives %s a zod schema fails and says what would be right; nobody is asked",
  async (_, ask) => {
    const fixture = await openEngineFixture();
    const act = fixture.engine.gate("act", {}, async (_args, ctx) => {
      await ask(ctx);
      return "done";
    });
    expect(await act({}, { key: "k", by: { id: "ana" } })).toMatchObject({
      status: "failed",
      error: expect.stringContaining("z.toJSONSchema") as string,
    });
    expect((await fixture.ledger.confirmations({ state: "open" })).items).toEqual([]);
  },
);
