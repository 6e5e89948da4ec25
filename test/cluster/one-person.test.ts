import { expect, test } from "vitest";
import { createApp } from "../../src/http/index.ts";
import { createEngine, type JsonObject, type PrincipalInput } from "../../src/index.ts";
import { parsePolicy } from "../../src/policy/index.ts";
import { createDatabase } from "../support/postgres/database.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();

const STORES: readonly (readonly [string, () => Promise<string>])[] = [
  ["SQLite", async () => `sqlite:${await resources.folder()}/ledger.db`],
  ["PostgreSQL", () => createDatabase(resources)],
];

const POLICY = `
people: { rita: [rita, "rita@sso"], leo: [leo, "leo@sso"] }
rules:
  - { id: own, match: { tool: own }, then: confirm }
  - { id: pay, match: { tool: pay }, then: confirm, require: [{ from: "user:ana" }], notRequester: true }
`;

function token(id: string): PrincipalInput {
  return { id, kind: "token", scopes: ["read", "decide"], authenticated: true };
}

interface Listed {
  readonly items: readonly { readonly id: string }[];
}

async function openSite(ledger: string) {
  const engine = await createEngine({ ledger, policy: parsePolicy("policy.yaml", POLICY) });
  resources.add(() => engine.close());
  const app = createApp({
    apps: {},
    engine,
    publicUrl: "https://sign.example",
    authenticate: (request) => token(request.headers.get("x-as") ?? ""),
  });
  const send = async (as: string, path: string, body?: object): Promise<Response> =>
    app.fetch(
      new Request(`https://sign.example${path}`, {
        headers: { "x-as": as, "content-type": "application/json" },
        ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
      }),
    );
  const ask = async (tool: string, key: string): Promise<string> => {
    const gate = engine.gate(tool, {}, async () => "done");
    const outcome = await gate({ note: "alpha" }, { key, by: token("rita") });
    return outcome.status === "pending" ? outcome.confirmation.id : "";
  };
  const listed = async (as: string, query: string): Promise<readonly string[]> => {
    const { items } = (await (await send(as, `/v1/confirmations${query}`)).json()) as Listed;
    return items.map(({ id }) => id);
  };
  /** Opens the feed; what it returns waits for the message about a question. */
  const feed = async (as: string): Promise<(id: string) => Promise<JsonObject>> => {
    const { body } = await send(as, "/v1/confirmations/stream");
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    resources.add(async () => reader?.cancel());
    let text = "";
    return async (id) => {
      for (;;) {
        const line = text.split("\n").find((one) => one.startsWith("data:") && one.includes(id));
        if (line !== undefined && text.endsWith("\n\n"))
          return JSON.parse(line.slice("data:".length)) as JsonObject;
        const { value, done } = (await reader?.read()) ?? { done: true };
        if (done || value === undefined) throw new Error("the feed ended");
        text += value;
      }
    };
  };
  return { engine, send, ask, listed, feed };
}

const QUERIES = ["", "?mine=decidable", "?q=alpha", "?status=all"];

test.each(STORES)("on %s a person's other login sees and decides what the person may", async (_, place) => {
  const { engine, send, ask, listed, feed } = await openSite(await place());
  await engine.delegate({ to: "leo", until: Date.now() + 3_600_000 }, { by: token("ana") });
  for (const [tool, other, stranger] of [
    ["own", "rita@sso", "leo@sso"],
    ["pay", "leo@sso", "eve"],
  ] as const) {
    const next = await feed(other);
    const id = await ask(tool, `${tool}-1`);
    for (const query of [...QUERIES, `?tool=${tool}`])
      expect(await listed(other, query), `${other} ${query}`).toContain(id);
    expect(await next(id)).toMatchObject({ can: { decide: true } });
    expect(await (await send(other, `/v1/confirmations/${id}`)).json()).toMatchObject({
      can: { decide: true },
    });
    expect((await send(other, `/v1/confirmations/${id}/context`)).status).toBe(200);
    expect((await send(other, `/v1/audit?confirmation=${id}`)).status).toBe(200);
    for (const query of QUERIES)
      expect(await listed(stranger, query), `${stranger} ${query}`).not.toContain(id);
    expect((await send(stranger, `/v1/confirmations/${id}`)).status).toBe(404);
    const decided = await send(other, `/v1/confirmations/${id}/decision?wait=10`, { confirmed: true });
    expect(await decided.json()).toMatchObject({ status: "succeeded" });
    expect(await listed(other, "?status=all"), "closed").toContain(id);
  }
  expect(await listed("rita@sso", "?mine=true&status=all")).toHaveLength(2);
  expect(await listed("leo@sso", "?mine=true&status=all")).toEqual([]);
});
