import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../protocol/index.ts";
import { sameJson } from "../common/same-json.ts";
import { judgePayload } from "./payload.ts";

const ASKED = { args: { days: 5 }, secrets: [] };
const EXAMPLE = { approved_days: 0 };
const SCHEMA: JsonObject = {
  type: "object",
  properties: { approvedDays: { type: "integer", minimum: 0 }, note: { type: "string" } },
  required: ["approvedDays"],
  additionalProperties: false,
};

describe("without an example and a schema", () => {
  test("the tool gets what was sent, and nothing where nothing was", () => {
    expect(judgePayload({}, ASKED, undefined)).toEqual({ ok: true });
    for (const sent of [{ any: "thing" }, "text", 0, false, null, []] satisfies JsonValue[]) {
      expect(judgePayload({}, ASKED, sent)).toEqual({ ok: true, payload: sent });
    }
  });

  test("the arguments sent back are no payload: who approves with them approves as one who sends none", () => {
    expect(judgePayload({}, ASKED, { days: 5 })).toEqual({ ok: true });
    const secret = { args: { card: "4111", days: 5 }, secrets: ["/card"] };
    expect(judgePayload({}, secret, { days: 5, card: "[redacted]" })).toEqual({ ok: true });
  });
});

describe("with an example", () => {
  test.each<[string, JsonValue | undefined, JsonValue]>([
    ["nothing was sent: the example", undefined, EXAMPLE],
    ["the arguments were sent back: the example", { days: 5 }, EXAMPLE],
    ["another payload was sent: that one", { approved_days: 3 }, { approved_days: 3 }],
    ["something like the arguments was sent: that one", { days: 4 }, { days: 4 }],
    ["null was sent: null", null, null],
  ])("%s", (_, sent, payload) => {
    expect(judgePayload({ payload: EXAMPLE }, ASKED, sent)).toEqual({ ok: true, payload });
  });

  test("the arguments sent back in another order of members are still the arguments", () => {
    const asked = { args: { a: 1, b: { c: 2, d: 3 } }, secrets: [] };
    expect(judgePayload({ payload: EXAMPLE }, asked, { b: { d: 3, c: 2 }, a: 1 })).toEqual({
      ok: true,
      payload: EXAMPLE,
    });
  });

  test("the arguments sent back as they were shown, without their secrets, are still the arguments", () => {
    const asked = { args: { card: "4111", days: 5 }, secrets: ["/card"] };
    expect(judgePayload({ payload: EXAMPLE }, asked, { card: "[redacted]", days: 5 })).toEqual({
      ok: true,
      payload: EXAMPLE,
    });
  });

  test("of the arguments' own shape, what equals the arguments is a payload", () => {
    expect(judgePayload({ payload: { days: 0 } }, ASKED, { days: 5 })).toEqual({
      ok: true,
      payload: { days: 5 },
    });
  });

  test.each<[string, JsonValue]>([
    ["null", null],
    ["a text", "days"],
    ["a list", [1]],
  ])("that is %s, the arguments are no payload", (_, payload) => {
    expect(judgePayload({ payload }, ASKED, { days: 5 })).toEqual({ ok: true, payload });
  });
});

describe("with a schema", () => {
  test("what fits is the payload", () => {
    expect(judgePayload({ schema: SCHEMA }, ASKED, { approvedDays: 3 })).toEqual({
      ok: true,
      payload: { approvedDays: 3 },
    });
  });

  test.each<[string, JsonValue | undefined, string]>([
    ["nothing", undefined, "approvedDays"],
    ["the arguments", { days: 5 }, "approvedDays"],
    ["an empty object", {}, "approvedDays"],
    ["the wrong type", { approvedDays: "3" }, "approvedDays"],
    ["a value out of range", { approvedDays: -1 }, "approvedDays"],
    ["a member too many", { approvedDays: 3, admin: true }, "admin"],
    ["the wrong type elsewhere", { approvedDays: 3, note: 7 }, "note"],
    [
      "the member below __proto__ only",
      JSON.parse('{"__proto__": {"approvedDays": 3}}') as JsonValue,
      "__proto__",
    ],
  ])("%s is refused and the field named", (_, sent, field) => {
    expect(judgePayload({ schema: SCHEMA }, ASKED, sent)).toMatchObject({ ok: false, field });
  });

  test("an example beside it is shown, but never stands in for an answer", () => {
    expect(judgePayload({ schema: SCHEMA, payload: { approvedDays: 0 } }, ASKED, undefined)).toMatchObject({
      ok: false,
      field: "approvedDays",
    });
  });

  test.each<[string, JsonObject]>([
    ["requires nothing", { type: "object", required: [] }],
    ["says nothing of it", { type: "object" }],
    ["is unreadable about it", { required: [7] }],
  ])("that %s, a missing payload is called `payload`", (_, schema) => {
    expect(judgePayload({ schema }, ASKED, undefined)).toMatchObject({ ok: false, field: "payload" });
  });

  test("that the arguments happen to fit, they are the payload", () => {
    const schema = { type: "object", required: ["days"] };
    expect(judgePayload({ schema }, ASKED, { days: 5 })).toEqual({ ok: true, payload: { days: 5 } });
  });

  test("that cannot be read, nothing is approved", () => {
    const schema = { $ref: "https://nowhere.example/schema" };
    expect(judgePayload({ schema }, ASKED, { approvedDays: 3 })).toMatchObject({ ok: false });
  });
});

test("values are the same as JSON, whatever the order of members; nothing is the same only as nothing", () => {
  expect(sameJson({ a: 1, b: [2] }, { b: [2], a: 1 })).toBe(true);
  expect(sameJson([1, 2], [2, 1])).toBe(false);
  expect(sameJson(undefined, undefined)).toBe(true);
  expect(sameJson(undefined, null)).toBe(false);
  expect(sameJson(1, "1")).toBe(false);
});
