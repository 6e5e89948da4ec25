import { beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/index.ts";
import { type ApprovalsServer, startApprovalsServer, textOf } from "../e2e/approvals/approvals-server.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
// More than a request once read on behalf of somebody who may see none of them.
const MANY = 25;

let server: ApprovalsServer;

async function get(person: string, path: string): Promise<JsonObject> {
  const answer = await server.ask(person, "GET", path);
  expect(answer.status, JSON.stringify(answer.json)).toBe(200);
  return answer.json;
}

async function cursorOf(person: string, path: string): Promise<string> {
  return textOf((await get(person, path))["next"]);
}

async function refusal(person: string, path: string, cursor: string): Promise<unknown> {
  const { status, json } = await server.ask(person, "GET", `${path}&cursor=${encodeURIComponent(cursor)}`);
  return [status, json["code"]];
}

beforeEach(async () => {
  server = await startApprovalsServer(resources);
});

describe("a page tells nothing about rows that its reader may not see", () => {
  test("what others wait for is not found letter by letter", async () => {
    for (let i = 0; i < MANY; i += 1) await server.say("ana", "pay 4711", `s${i}`);
    for (const query of [
      "q=47",
      "q=4711",
      "q=99",
      "tool=pay",
      "tool=none",
      "user=ana",
      "mine=decidable",
      "",
    ]) {
      expect(await get("bob", `/v1/confirmations?limit=1&${query}`), query).toEqual({ items: [] });
    }
  });

  test("one's own rows are listed without gaps among many of others", async () => {
    for (let i = 0; i < MANY; i += 1) {
      await server.say("ana", "pay 4711", `a${i}`);
      if (i % 10 === 0) await server.say("bob", "pay 4711", `b${i}`);
    }
    const first = await get("bob", "/v1/confirmations?limit=2&q=4711");
    expect(first["items"]).toHaveLength(2);
    const second = await get(
      "bob",
      `/v1/confirmations?limit=2&q=4711&cursor=${encodeURIComponent(textOf(first["next"]))}`,
    );
    expect(second["items"]).toHaveLength(1);
    expect(second["next"]).toBeUndefined();
    // A page that ends with the last of one's own has no next one, however many of others follow.
    expect((await get("bob", "/v1/confirmations?limit=3"))["next"]).toBeUndefined();
  });

  test("nor what became of theirs", async () => {
    for (let i = 0; i < MANY; i += 1) {
      const [open] = await server.say("ana", "pay 4711", `s${i}`);
      await server.engine.deny(open?.id ?? "", { by: { id: "ana" } });
    }
    for (const query of ["status=denied", "status=all", "status=denied&q=47", "status=denied&q=99"]) {
      expect(await get("bob", `/v1/confirmations?limit=1&${query}`), query).toEqual({ items: [] });
    }
  });

  test("nor which of their calls ended nobody knows how", async () => {
    for (let i = 0; i < 3; i += 1) await server.say("ana", "look 5", `s${i}`);
    expect(await get("bob", "/v1/unknown?limit=1")).toEqual({ items: [] });
    expect((await get("ana", "/v1/unknown?limit=2"))["items"]).toHaveLength(2);
    await server.say("bob", "look 5", "zz");
    const page = await get("bob", "/v1/unknown?limit=1");
    expect(page["items"]).toHaveLength(1);
    expect(page["next"]).toBeUndefined();
  });

  test("nor how much happens beside one's own in a session's journal", async () => {
    const [open] = await server.say("ana", "pay 5 and pay 6", "s");
    const page = await get("ana", `/v1/audit?confirmation=${open?.id}&limit=1`);
    expect(page["items"]).toHaveLength(1);
    expect(page["next"]).toBeUndefined();
  });
});

describe("a cursor is needs at least one scope but the next page of the list it came with", () => {
  const LIST = "/v1/confirmations?limit=1&tool=pay";

  beforeEach(async () => {
    for (let i = 0; i < 3; i += 1) await server.say("ana", "pay 5", `s${i}`);
  });

  test("it does not tell where it leads", async () => {
    const page = await get("ana", LIST);
    const [item] = page["items"] as readonly { readonly id: string }[];
    const cursor = textOf(page["next"]);
    expect(cursor).not.toBe("");
    for (const encoding of ["base64url", "latin1"] as const) {
      expect(Buffer.from(cursor, encoding).toString("latin1")).not.toContain(item?.id);
    }
    expect(cursor).not.toMatch(/open|closed/);
  });

  test("altered, made up, somebody else's or of another list it is refused", async () => {
    const cursor = await cursorOf("ana", LIST);
    const altered = cursor.slice(0, -2) + (cursor.endsWith("AA") ? "BB" : "AA");
    const made = Buffer.from(JSON.stringify([1, "adk-1"])).toString("base64url");
    const invalid = [400, "invalid-cursor"];
    expect(await refusal("ana", LIST, altered)).toEqual(invalid);
    expect(await refusal("ana", LIST, `open.${made}`)).toEqual(invalid);
    expect(await refusal("ana", LIST, made)).toEqual(invalid);
    expect(await refusal("ana", LIST, "x")).toEqual(invalid);
    expect(await refusal("meg", LIST, cursor)).toEqual(invalid);
    expect(await refusal("root", LIST, cursor)).toEqual(invalid);
    expect(await refusal("ana", "/v1/confirmations?limit=1&tool=transfer", cursor)).toEqual(invalid);
    expect(await refusal("ana", "/v1/confirmations?limit=1", cursor)).toEqual(invalid);
    expect(await refusal("ana", "/v1/unknown?limit=1", cursor)).toEqual(invalid);
    expect(await refusal("root", "/v1/deliveries?limit=1", cursor)).toEqual(invalid);
    // How many a page holds is no part of what is listed.
    const next = await get("ana", `/v1/confirmations?limit=2&tool=pay&cursor=${encodeURIComponent(cursor)}`);
    expect(next["items"]).toHaveLength(2);
  });
});
