import { describe, expect, test } from "vitest";
import { createApp } from "../../src/http/index.ts";
import { Agent, createLedger, type Ledger, Runner, tool } from "../../src/index.ts";
import { scripted } from "../../src/models/scripted/index.ts";
import type { Content, Event, JsonObject } from "../../src/protocol/index.ts";
import { AdkClient, answer, asked, type Ran } from "../support/http/adk-client.ts";
import { wrapLedger } from "../support/ledger/ledger-proxy.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const yes = { confirmed: true };

/** An agent whose tools ask more than once, behind the ADK's routes. */
interface Scene {
  readonly client: AdkClient;
  /** What ran, in order. */
  readonly ran: string[];
  readonly runner: Runner;
}

interface SceneOptions {
  readonly ledger?: Ledger;
  /** Of the tool `pay`: another one is another tool. */
  readonly description?: string;
  readonly wire?: "adk" | "adk-rs";
}

async function openScene({ ledger, description = "Pays.", wire }: SceneOptions = {}): Promise<Scene> {
  const ran: string[] = [];
  let entered = 0;
  const parameters = { type: "object", properties: {} } as const;
  const gated = { parameters, requireConfirmation: true } as const;
  const tools = [
    tool({
      ...gated,
      name: "transfer",
      description: "Transfers.",
      execute: async (_, ctx) => {
        await ctx.step("reserve", () => void ran.push("reserved"));
        await ctx.confirm("second", { hint: "Send it abroad?" });
        ran.push("sent");
        return { ok: true };
      },
    }),
    tool({
      ...gated,
      name: "again",
      description: "Asks in the ADK's way.",
      execute: (_, ctx) => {
        entered += 1;
        if (entered === 1) {
          ctx.requestConfirmation({ hint: "Really?" });
          return null;
        }
        ran.push("sent");
        return { ok: true };
      },
    }),
    tool({ ...gated, name: "pay", description, execute: () => void ran.push("paid") }),
  ];
  const model = scripted(({ contents }) => {
    const last = contents.at(-1)?.parts.at(-1);
    if (last?.functionResponse !== undefined) return "Done.";
    return [{ functionCall: { id: "call-1", name: last?.text ?? "", args: {} } }];
  });
  const agent = new Agent({ name: "desk", model, tools });
  const runner = new Runner({
    agent,
    ledger: ledger ?? (await createLedger("memory:")),
    ...(wire === undefined ? {} : { wire }),
  });
  resources.add(() => runner.close());
  const app = createApp({ apps: { desk: runner }, publicUrl: "http://127.0.0.1:8000" });
  const send = async (request: Request): Promise<Response> => app.fetch(request);
  return { client: new AdkClient({ send }, { app: "desk" }), ran, runner };
}

/** Sends the same bytes by one of the ADK's routes. */
type Route = (client: AdkClient, message: Content, headers?: Record<string, string>) => Promise<Ran>;

const byRun: Route = (client, message, headers = {}) => client.run("s1", message, { headers });

const byStream: Route = async (client, message, headers = {}) => {
  const events: Event[] = [];
  for await (const event of client.stream("s1", message, { headers })) events.push(event);
  const refused = events.find((event) => "error" in event) as { readonly code?: string } | undefined;
  return { status: 200, events, body: {}, ...(refused?.code === undefined ? {} : { code: refused.code }) };
};

const ROUTES: readonly (readonly [string, Route])[] = [
  ["/run", byRun],
  ["/run_sse", byStream],
];

/** The same ledger for somebody who does not close it. */
function kept(ledger: Ledger): Ledger {
  return wrapLedger(ledger, { close: async () => {} });
}

async function ask(client: AdkClient, toolName: string): Promise<readonly string[]> {
  await client.createSession("s1");
  return asked((await client.run("s1", toolName)).events);
}

async function openIds({ runner }: Scene): Promise<readonly string[]> {
  return (await runner.pending()).map(({ id }) => id);
}

describe.each(ROUTES)("the same bytes again, by %s", (_, route) => {
  describe.each(["transfer", "again"])("to a tool that asks a second time (%s)", (name) => {
    const keys = [
      ["without a key", {}],
      ["under a known key", { "idempotency-key": "k1" }],
    ] as const;
    test.each(keys)("naming the call, %s, do not reach the second question", async (_key, headers) => {
      const scene = await openScene();
      await ask(scene.client, name);
      const message = answer("call-1", yes);
      const first = await route(scene.client, message, headers);
      const second = await openIds(scene);
      expect(second).toHaveLength(1);
      for (let repeat = 0; repeat < 3; repeat++) {
        const again = await route(scene.client, message, headers);
        expect(again.code).toBeUndefined();
        expect(again.events).toEqual(first.events);
      }
      expect(await openIds(scene)).toEqual(second);
      expect(scene.ran).not.toContain("sent");
      await route(scene.client, answer(second[0] ?? "", yes));
      expect(scene.ran.at(-1)).toBe("sent");
    });
  });

  test("naming the question itself are answered with the stored decision", async () => {
    const scene = await openScene();
    const [id = ""] = await ask(scene.client, "transfer");
    const first = await route(scene.client, answer(id, yes));
    const second = await openIds(scene);
    expect((await route(scene.client, answer(id, yes))).events).toEqual(first.events);
    expect(await openIds(scene)).toEqual(second);
    expect(scene.ran).toEqual(["reserved"]);
  });

  test("naming the call do not approve the definition that came since", async () => {
    const ledger = await createLedger("memory:");
    const before = await openScene({ ledger });
    await ask(before.client, "pay");
    const now = await openScene({ ledger: kept(ledger), description: "Pays twice." });
    const message = answer("call-1", yes);
    expect((await route(now.client, message)).code).toBe("definition-changed");
    const anew = await openIds(now);
    expect(anew).toHaveLength(1);
    for (let repeat = 0; repeat < 2; repeat++) {
      expect((await route(now.client, message)).code).toBe("withdrawn");
    }
    expect(await openIds(now)).toEqual(anew);
    expect(now.ran).toEqual([]);
    await route(now.client, answer(anew[0] ?? "", yes));
    expect(now.ran).toEqual(["paid"]);
  });
});

test("another verdict on the call is refused once the first question was decided", async () => {
  const scene = await openScene();
  await ask(scene.client, "transfer");
  await scene.client.run("s1", answer("call-1", yes));
  const refused = await scene.client.run("s1", answer("call-1", { confirmed: false }));
  expect(refused.code).toBe("already-decided");
  expect(await openIds(scene)).toHaveLength(1);
});

test("a message that answers a call and its question decides the first question only", async () => {
  const scene = await openScene();
  const [id = ""] = await ask(scene.client, "transfer");
  const parts = [...answer(id, yes).parts, ...answer("call-1", yes).parts];
  await scene.client.run("s1", { role: "user", parts });
  expect(await openIds(scene)).toHaveLength(1);
  expect(scene.ran).toEqual(["reserved"]);
});

test("clients that answer by the call's id at once approve the first question, and it alone", async () => {
  const scene = await openScene();
  await ask(scene.client, "transfer");
  const message = answer("call-1", yes);
  const outcomes = await Promise.all(Array.from({ length: 12 }, () => byRun(scene.client, message)));
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set([200]));
  expect(await openIds(scene)).toHaveLength(1);
  expect(scene.ran).toEqual(["reserved"]);
});

test("an answer by the call's id that meets the withdrawal and the new question approves neither", async () => {
  const inner = await createLedger("memory:");
  const before = await openScene({ ledger: inner });
  await ask(before.client, "pay");
  // Between the look at the call and the decision, somebody else's answer finds that the definition changed.
  let meet: (() => Promise<unknown>) | undefined;
  const ledger = wrapLedger(inner, {
    async load(target) {
      const found = await inner.load(target);
      const act = "call" in target ? meet : undefined;
      if (act !== undefined) {
        meet = undefined;
        await act();
      }
      return found;
    },
  });
  const now = await openScene({ ledger: kept(ledger), description: "Pays twice." });
  const [id = ""] = await openIds(now);
  meet = () => byRun(now.client, answer(id, yes));
  expect((await byRun(now.client, answer("call-1", yes))).code).toBe("withdrawn");
  expect(await openIds(now)).toHaveLength(1);
  expect(await openIds(now)).not.toEqual([id]);
  expect(now.ran).toEqual([]);
});

const requests = (events: readonly Event[]): readonly JsonObject[] =>
  events.flatMap(({ content }) =>
    (content?.parts ?? []).flatMap(({ functionResponse }) =>
      functionResponse?.willContinue === true ? [functionResponse as unknown as JsonObject] : [],
    ),
  );

describe("on adk-rs's wire", () => {
  test.each(["transfer", "again"])("a later question of %s has an id of its own", async (name) => {
    const scene = await openScene({ wire: "adk-rs" });
    expect(await ask(scene.client, name)).toEqual(["call-1"]);
    const { events } = await scene.client.run("s1", answer("call-1", yes));
    const [id = ""] = await openIds(scene);
    expect(asked(events)).toEqual([id]);
    expect(requests(events)).toMatchObject([{ id, response: { originalFunctionCall: { id: "call-1" } } }]);
    await scene.client.run("s1", answer("call-1", yes));
    expect(scene.ran).not.toContain("sent");
    const last = await scene.client.run("s1", answer(id, yes));
    expect(scene.ran.at(-1)).toBe("sent");
    const closings = (await scene.client.events("s1")).filter(({ author }) => author === "user");
    expect(closings.flatMap(({ content }) => content?.parts ?? [])).toMatchObject([
      {},
      { functionResponse: { id: "call-1" } },
      { functionResponse: { id } },
    ]);
    expect(last.code).toBeUndefined();
  });

  test("so has one that is asked again", async () => {
    const ledger = await createLedger("memory:");
    const before = await openScene({ ledger, wire: "adk-rs" });
    await ask(before.client, "pay");
    const now = await openScene({ ledger: kept(ledger), description: "Pays twice.", wire: "adk-rs" });
    await now.client.run("s1", answer("call-1", yes));
    const [id = ""] = await openIds(now);
    expect(asked(await now.client.events("s1"))).toEqual(["call-1", id]);
    await now.client.run("s1", answer(id, yes));
    expect(now.ran).toEqual(["paid"]);
  });
});
