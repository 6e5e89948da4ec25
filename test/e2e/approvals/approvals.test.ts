import { describe, expect, test } from "vitest";
import type { Confirmation } from "../../../src/index.ts";
import { useResources } from "../../support/resources.ts";
import {
  type Answer,
  type ApprovalsServer,
  type Person,
  startApprovalsServer,
  textOf,
} from "./approvals-server.ts";

const resources = useResources();

function ids(list: unknown): readonly string[] {
  return (list as readonly Confirmation[]).map(({ id }) => id);
}

function first(pending: readonly Confirmation[]): Confirmation {
  const [one] = pending;
  if (one === undefined) throw new Error("Nothing waits.");
  return one;
}

async function ended(server: ApprovalsServer, id: string, person: Person = "ana"): Promise<string> {
  const { json } = await server.ask(person, "GET", `/v1/confirmations/${id}`);
  return textOf(json["status"]);
}

describe("the list", () => {
  test("shows what a principal may decide and what they asked for, and nothing else", async () => {
    const server = await startApprovalsServer(resources);
    const pay = first(await server.say("ana", "pay 5"));
    const transfer = first(await server.say("ana", "transfer 9"));
    const seen = async (person: Person): Promise<readonly string[]> =>
      ids((await server.ask(person, "GET", "/v1/confirmations")).json["items"]).toSorted();
    expect(await seen("ana")).toEqual([pay.id, transfer.id].toSorted());
    expect(await seen("bob")).toEqual([]);
    expect(await seen("meg")).toEqual([transfer.id]);
    expect(await seen("root")).toEqual([pay.id, transfer.id].toSorted());
  });

  test("says what each viewer can do, as far as their scopes reach", async () => {
    const server = await startApprovalsServer(resources);
    const { id } = first(await server.say("ana", "pay 5"));
    const can = async (person: Person): Promise<unknown> =>
      (await server.ask(person, "GET", `/v1/confirmations/${id}`)).json["can"];
    expect(await can("ana")).toEqual({ decide: true, amend: true, cancel: true });
    expect(await can("watcher")).toEqual({ decide: false, amend: false, cancel: false });
    expect(await can("root")).toEqual({ decide: false, amend: false, cancel: false });
  });

  test("goes through everything in pages, each item once, whatever the viewer may not see in between", async () => {
    const server = await startApprovalsServer(resources);
    const mine: string[] = [];
    for (let i = 0; i < 12; i += 1) {
      const user = i % 4 === 0 ? "bob" : "ana";
      const { id } = first(await server.say(user, `pay ${i}`));
      if (user === "ana") mine.push(id);
    }
    const found: string[] = [];
    let next = "";
    let pages = 0;
    do {
      const cursor = next === "" ? "" : `&cursor=${encodeURIComponent(next)}`;
      const { json } = await server.ask("ana", "GET", `/v1/confirmations?limit=2${cursor}`);
      const page = ids(json["items"]);
      expect(page.length).toBeLessThanOrEqual(2);
      found.push(...page);
      next = textOf(json["next"]);
      pages += 1;
    } while (next !== "" && pages < 50);
    expect(found.toSorted()).toEqual(mine.toSorted());
  });

  test.each([
    ["tool=transfer", ["transfer"]],
    ["user=ana&tool=pay", ["pay"]],
    ["agent=nobody", []],
    ["app=bank", ["pay", "transfer"]],
    ["session=s-2", ["transfer"]],
    ["app=bank&user=ana&session=s-1", ["pay"]],
    ["q=TRANS", ["transfer"]],
    ["q=amount%2077", ["transfer"]],
    ["q=absent", []],
    ["mine=true", ["pay", "transfer"]],
    ["mine=decidable", ["pay"]],
    ["status=denied,expired", []],
    ["status=all", ["pay", "transfer"]],
    ["status=requested&status=denied", ["pay", "transfer"]],
  ])("is narrowed by %s", async (query, tools) => {
    const server = await startApprovalsServer(resources);
    await server.say("ana", "pay 5", "s-1");
    await server.say("ana", "transfer 77", "s-2");
    const { status, json } = await server.ask("ana", "GET", `/v1/confirmations?${query}`);
    expect(status).toBe(200);
    const found = (json["items"] as unknown as readonly Confirmation[]).map(({ tool }) => tool);
    expect(found.toSorted()).toEqual(tools);
  });

  test("finds closed ones by status, turn and words, newest first", async () => {
    const server = await startApprovalsServer(resources);
    const pending = await server.say("ana", "pay 5 and pay 6", "s-1");
    const turn = first(pending).turn;
    for (const { id } of pending) {
      await server.ask("ana", "POST", `/v1/confirmations/${id}/decision`, { confirmed: false });
    }
    const all = await server.ask("ana", "GET", "/v1/confirmations?status=denied");
    expect(ids(all.json["items"])).toEqual(ids(pending).toSorted().toReversed());
    const same = await server.ask(
      "ana",
      "GET",
      `/v1/confirmations?status=all&turn=${encodeURIComponent(turn)}`,
    );
    expect(ids(same.json["items"]).toSorted()).toEqual(ids(pending).toSorted());
    const words = await server.ask("ana", "GET", "/v1/confirmations?status=all&q=6");
    expect(ids(words.json["items"])).toEqual([pending[1]?.id]);
  });

  test.each([
    ["limit=0", "limit"],
    ["limit=many", "limit"],
    ["limit=5&limit=6", "limit"],
    ["status=odd", "status"],
    ["mine=yes", "mine"],
  ])("refuses %s and says which part is wrong", async (query, field) => {
    const server = await startApprovalsServer(resources);
    const { status, json } = await server.ask("ana", "GET", `/v1/confirmations?${query}`);
    expect({ status, code: json["code"] }).toEqual({ status: 422, code: "malformed-request" });
    expect(json["field"]).toBe(field);
  });

  test.each(["made-up", "open.%00", "open."])("refuses the cursor %s", async (cursor) => {
    const server = await startApprovalsServer(resources);
    const { status, json } = await server.ask("ana", "GET", `/v1/confirmations?cursor=${cursor}`);
    expect({ status, code: json["code"], field: json["field"] }).toEqual({
      status: 400,
      code: "invalid-cursor",
      field: "cursor",
    });
  });

  test("needs the scope read or decide, and a login", async () => {
    const server = await startApprovalsServer(resources, {
      app: {
        authenticate: (request) =>
          request.headers.get("authorization") === "runner" ? { id: "ana", scopes: ["run"] } : undefined,
      },
    });
    const { status, json } = await server.ask("runner", "GET", "/v1/confirmations");
    expect({ status, code: json["code"] }).toEqual({ status: 403, code: "forbidden" });
    expect(json["detail"]).toContain("read");
    expect((await server.ask("stranger", "GET", "/v1/confirmations")).status).toBe(401);
  });
});

describe("a decision", () => {
  test("answers once committed, and the call runs without anybody connected", async () => {
    const server = await startApprovalsServer(resources);
    const { id } = first(await server.say("ana", "pay 5", "s-1"));
    const answer = await server.ask("ana", "POST", `/v1/confirmations/${id}/decision`, { confirmed: true });
    expect(answer.status).toBe(200);
    expect(answer.json["decision"]).toMatchObject({ confirmed: true, by: { id: "ana" }, via: "api" });
    await server.engine.finished((await server.engine.ledger.load({ confirmation: id }))?.call?.id ?? "");
    expect(await ended(server, id)).toBe("succeeded");
    expect(server.done).toEqual([{ tool: "pay", args: { amount: 5 } }]);
  });

  test("with wait, answers when the call has ended", async () => {
    const server = await startApprovalsServer(resources);
    const { id } = first(await server.say("ana", "pay 5"));
    const path = `/v1/confirmations/${id}/decision?wait=30`;
    const { json } = await server.ask("ana", "POST", path, { confirmed: true });
    expect(json).toMatchObject({ status: "succeeded", result: { ok: true } });
  });

  test("a repetition gets the stored one; a different one is told who decided what and when", async () => {
    const server = await startApprovalsServer(resources);
    const { id } = first(await server.say("ana", "transfer 5"));
    const path = `/v1/confirmations/${id}/decision`;
    expect((await server.ask("meg", "POST", path, { confirmed: false, reason: "no" })).status).toBe(200);
    const again = await server.ask("max", "POST", path, { confirmed: false });
    expect(again.json["decision"]).toMatchObject({ by: { id: "meg" }, reason: "no" });
    const other = await server.ask("max", "POST", path, { confirmed: true });
    expect({ status: other.status, code: other.json["code"] }).toEqual({
      status: 409,
      code: "already-decided",
    });
    expect(other.json["detail"]).toMatch(/^meg denied this at \d{4}-/);
    expect(server.done).toEqual([]);
  });

  test("is refused in the order 404, 403, 409, 412", async () => {
    const server = await startApprovalsServer(resources);
    const { id } = first(await server.say("ana", "transfer 5"));
    const path = `/v1/confirmations/${id}/decision`;
    const stale = { confirmed: true, version: 99 };
    const refused = async (person: Person, body: object, at = path): Promise<unknown[]> => {
      const { status, json } = await server.ask(person, "POST", at, body);
      return [status, json["code"]];
    };
    expect(await refused("bob", stale, "/v1/confirmations/adk-none/decision")).toEqual([
      404,
      "unknown-confirmation",
    ]);
    expect(await refused("bob", stale)).toEqual([404, "unknown-confirmation"]);
    expect(await refused("root", stale)).toEqual([403, "forbidden"]);
    expect(await refused("ana", stale)).toEqual([403, "not-an-approver"]);
    expect(await refused("meg", stale)).toEqual([412, "stale-version"]);
    expect((await server.ask("meg", "POST", path, { confirmed: false })).status).toBe(200);
    expect(await refused("meg", stale)).toEqual([409, "already-decided"]);
    expect(await refused("ana", stale)).toEqual([403, "not-an-approver"]);
  });

  test("by somebody who may not see it is journalled all the same", async () => {
    const server = await startApprovalsServer(resources);
    const { id } = first(await server.say("ana", "transfer 5"));
    await server.ask("bob", "POST", `/v1/confirmations/${id}/decision`, { confirmed: true });
    const { json } = await server.ask("root", "GET", "/v1/audit?q=decision-refused");
    expect(json["items"]).toMatchObject([
      { kind: "decision-refused", body: { by: { id: "bob" }, via: "api" } },
    ]);
  });

  test("names its version in If-Match as well", async () => {
    const server = await startApprovalsServer(resources);
    const { id } = first(await server.say("ana", "pay 5"));
    const got = await server.ask("ana", "GET", `/v1/confirmations/${id}`);
    const etag = got.headers.get("etag") ?? "";
    const path = `/v1/confirmations/${id}/decision`;
    const decide = (body: object, match: string) =>
      server.ask("ana", "POST", path, body, { "if-match": match });
    expect((await decide({ confirmed: true }, '"7"')).status).toBe(412);
    expect((await decide({ confirmed: true, version: 2 }, etag)).status).toBe(422);
    expect((await decide({ confirmed: true }, "odd")).status).toBe(422);
    expect((await decide({ confirmed: true }, etag)).status).toBe(200);
  });

  test("may amend, and what runs is what was amended", async () => {
    const server = await startApprovalsServer(resources);
    const { id } = first(await server.say("ana", "pay 5"));
    const { json } = await server.ask("ana", "POST", `/v1/confirmations/${id}/decision?wait=30`, {
      confirmed: true,
      args: { amount: 3 },
    });
    expect(json["status"]).toBe("succeeded");
    expect(server.done).toEqual([{ tool: "pay", args: { amount: 3 } }]);
  });

  test.each([
    [{}, "confirmed"],
    [{ confirmed: "true" }, "confirmed"],
    [{ confirmed: true, arg: { amount: 1 } }, undefined],
    [{ confirmed: true, version: 1.5 }, "version"],
    [{ confirmed: true, args: [] }, "args"],
    [[], undefined],
  ])("that reads %j is refused, and nothing is decided", async (body, field) => {
    const server = await startApprovalsServer(resources);
    const { id } = first(await server.say("ana", "pay 5"));
    const { status, json } = await server.ask("ana", "POST", `/v1/confirmations/${id}/decision`, body);
    expect({ status, code: json["code"] }).toEqual({ status: 422, code: "malformed-request" });
    if (field !== undefined) expect(json["field"]).toBe(field);
    expect(await ended(server, id)).toBe("requested");
  });

  test("of an agent decides nothing", async () => {
    const server = await startApprovalsServer(resources);
    const { id } = first(await server.say("ana", "pay 5"));
    const { status } = await server.ask("agent", "POST", `/v1/confirmations/${id}/decision`, {
      confirmed: true,
    });
    expect(status).toBe(403);
    expect(await ended(server, id)).toBe("requested");
  });

  test("many at once have a result each, and one refused does not touch the others", async () => {
    const server = await startApprovalsServer(resources);
    const pay = first(await server.say("ana", "pay 5"));
    const transfer = first(await server.say("ana", "transfer 6"));
    const { status, json } = await server.ask("ana", "POST", "/v1/decisions", {
      decisions: [
        { id: transfer.id, confirmed: true },
        { id: "adk-none", confirmed: true },
        { id: pay.id, confirmed: true, version: pay.version },
      ],
    });
    expect(status).toBe(200);
    expect(json["results"]).toMatchObject([
      { id: transfer.id, status: 403, problem: { code: "not-an-approver" } },
      { id: "adk-none", status: 404, problem: { code: "unknown-confirmation" } },
      { id: pay.id, status: 200, confirmation: { id: pay.id } },
    ]);
  });
});

/** The first code that an answer holds, wherever it stands. */
function codeIn({ json }: Answer): string | undefined {
  return /"code":"(?<code>[a-z-]+)"/.exec(JSON.stringify(json))?.groups?.["code"];
}

describe("an Idempotency-Key", () => {
  test("makes the same request the same answer, and refuses another request", async () => {
    const server = await startApprovalsServer(resources);
    const { id } = first(await server.say("ana", "pay 5"));
    const path = `/v1/confirmations/${id}/decision`;
    const key = { "idempotency-key": "k-1" };
    const one = await server.ask("ana", "POST", `${path}?wait=30`, { confirmed: true }, key);
    const two = await server.ask("ana", "POST", `${path}?wait=30`, { confirmed: true }, key);
    expect([one.status, two.status]).toEqual([200, 200]);
    expect(two.json).toEqual(one.json);
    const other = await server.ask("ana", "POST", path, { confirmed: false }, key);
    expect({ status: other.status, code: other.json["code"] }).toEqual({ status: 422, code: "key-reused" });
    expect(server.done).toHaveLength(1);
  });

  test.each(["one", "many"])("that was refused decides nothing later either (%s)", async (how) => {
    const roles: string[] = [];
    const server = await startApprovalsServer(resources, {
      app: { authenticate: () => ({ id: "bob", roles }) },
    });
    // Bob sees it as whoever asked for it; to approve it takes a manager, who gave it to him since.
    const { id } = first(await server.say("bob", "vault 5"));
    const [path, body] =
      how === "one"
        ? [`/v1/confirmations/${id}/decision`, { confirmed: true }]
        : ["/v1/decisions", { decisions: [{ id, confirmed: true }] }];
    const send = (key: string) => server.ask("bob", "POST", path, body, { "idempotency-key": key });
    const refused = await send("k-1");
    expect(codeIn(refused)).toBe("not-an-approver");
    roles.push("manager");
    const again = await send("k-1");
    expect([again.status, codeIn(again)]).toEqual([refused.status, "not-an-approver"]);
    expect(await server.runner.pending()).toHaveLength(1);
    expect(codeIn(await send("k-2"))).toBeUndefined();
    expect(await server.runner.pending()).toEqual([]);
  });

  test("is one person's and one address's own", async () => {
    const server = await startApprovalsServer(resources);
    const [one, two] = await server.say("ana", "transfer 5 and transfer 6");
    const key = { "idempotency-key": "k-1" };
    const decide = (person: Person, id = "", confirmed = true) =>
      server.ask(person, "POST", `/v1/confirmations/${id}/decision`, { confirmed }, key);
    expect((await decide("meg", one?.id)).status).toBe(200);
    expect((await decide("meg", two?.id, false)).status).toBe(200);
    expect((await decide("max", one?.id)).status).toBe(200);
  });

  test("holds on another server on the same database", async () => {
    const ledger = `sqlite:${await resources.folder()}/ledger.db`;
    const server = await startApprovalsServer(resources, { ledger });
    const other = await startApprovalsServer(resources, { ledger });
    const { id } = first(await server.say("ana", "pay 5"));
    const path = `/v1/confirmations/${id}/cancellation`;
    const key = { "idempotency-key": "k-1" };
    expect((await server.ask("ana", "POST", path, { reason: "late" }, key)).status).toBe(200);
    expect((await other.ask("ana", "POST", path, { reason: "late" }, key)).json).toMatchObject({
      status: "cancelled",
    });
    expect((await other.ask("ana", "POST", path, { reason: "else" }, key)).json["code"]).toBe("key-reused");
  });
});
