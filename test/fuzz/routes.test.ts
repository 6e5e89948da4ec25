import { setTimeout } from "node:timers/promises";
import { Validator } from "@cfworker/json-schema";
import { expect, test } from "vitest";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/protocol/index.ts";
import { type ApprovalsServer, startApprovalsServer } from "../e2e/approvals/approvals-server.ts";
import { effort } from "../support/effort.ts";
import { giveUp } from "../support/ledger/failed-delivery.ts";
import { Random } from "../support/random.ts";
import { useResources } from "../support/resources.ts";
import { type Operation, objectOf, operationsOf } from "./operations.ts";
import { type Draft, Requests } from "./requests.ts";
import { Values } from "./values.ts";

const resources = useResources();

const SILENCE_MS = 100;
const REQUESTS = effort({ short: 2_500, long: 10_000 });
const SEED = Number(process.env["COUNTERSIGN_SEED"] ?? 20_261_115);
/** What the model hands to a tool that declared it secret; it must come out nowhere. */
const PLANTED = "planted-5d1c7e";

test(`${REQUESTS} requests, valid and not, on every route: no fault, no leak, every error told properly`, async () => {
  const folder = await resources.folder();
  const server = await startApprovalsServer(resources, {
    ledger: `sqlite:${folder}/ledger.db`,
    password: PLANTED,
    engine: { maxOpen: 100_000, newId: countingIds() },
  });
  const { json: document } = await server.ask("ana", "GET", "/openapi.json");
  const operations = operationsOf(document);
  const random = new Random(SEED);
  const known: Record<string, readonly string[]> = {};
  const values = new Values(random, known, objectOf(objectOf(document["components"])["schemas"]));
  const requests = new Requests(random, values);
  const inspector = new Inspector(document, [PLANTED, folder, process.cwd()]);
  const statuses = new Map<number, number>();
  for (let i = 0; i < REQUESTS; i += 1) {
    if (i % 200 === 0) {
      await plant(server, i);
      Object.assign(known, await lookAround(server));
    }
    const operation = values.pick(operations);
    const draft = requests.next(operation);
    const request = toRequest(draft);
    if (request === undefined) continue;
    const answer = await read(await server.app.fetch(request), request);
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    const flaw = inspector.flawOf(answer, operation, draft);
    expect({
      flaw,
      answer: answer.text.slice(0, 500),
      request: flaw === undefined ? undefined : describe(draft),
      i,
      SEED,
    }).toMatchObject({ flaw: undefined });
  }
  const succeeded = statuses.get(200) ?? 0;
  expect(succeeded).toBeGreaterThan(REQUESTS / 10);
  for (const status of [401, 403, 404, 405, 422]) expect(statuses.get(status) ?? 0).toBeGreaterThan(10);
}, 300_000);

/** Something to hit: confirmations, a session, a call of unknown outcome. */
async function plant(server: ApprovalsServer, round: number): Promise<void> {
  for (const text of ["pay 1 and pay 2", "login x", "transfer 3", "lose 1", "look 1"]) {
    await server.say(text === "transfer 3" ? "bob" : "ana", text, `s-${round}-${text}`);
  }
  await giveUp(server.engine.ledger, { channel: "pager", seqs: [round + 1, round + 2] });
}

/** What exists by now, by the names of what takes it. */
async function lookAround({
  engine: { ledger },
}: ApprovalsServer): Promise<Record<string, readonly string[]>> {
  const [open, closed, calls, sessions] = [
    await ledger.confirmations({ state: "open" }, { limit: 30 }),
    await ledger.confirmations({ state: "closed" }, { limit: 10 }),
    await ledger.unknownCalls({ limit: 5 }),
    await ledger.sessions({ app: "bank", user: "ana" }, { limit: 10 }),
  ];
  const unsent = (await ledger.outbox.deadDeliveries({ limit: 10 })).items.map(({ seq }) => String(seq));
  const confirmations = [...open.items, ...closed.items].map(({ confirmation }) => confirmation.id);
  const session = [...sessions.items.map(({ id }) => id), "s-new"];
  const user = ["ana", "ana", "ana", "bob"];
  return {
    id: [...confirmations, ...calls.items.map(({ id }) => id)],
    confirmation: confirmations,
    channel: ["pager"],
    sequence: unsent,
    ...Object.fromEntries(["app", "appName", "app_name", "agent"].map((name) => [name, ["bank"]])),
    ...Object.fromEntries(["user", "userId", "user_id"].map((name) => [name, user])),
    ...Object.fromEntries(["session", "sessionId", "session_id"].map((name) => [name, session])),
    tool: ["pay", "login", "transfer"],
    status: ["requested", "all", "denied,unknown", "succeeded"],
    role: ["user"],
    text: ["pay 7", "hello", "login y", "transfer 3 and pay 2", "lose 1"],
    wait: ["0", "1"],
    limit: ["1", "50", "200"],
    "Idempotency-Key": Array.from({ length: 50 }, (_, i) => `k-${i}`),
  };
}

/** Ids that are the same in every run, so that what was found can be found again. */
function countingIds(): () => string {
  let count = 0;
  return () => {
    count += 1;
    return `id${String(count).padStart(8, "0")}`;
  };
}

interface Seen {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly hasBody: boolean;
}

async function read(response: Response, { method }: Request): Promise<Seen> {
  const type = response.headers.get("content-type") ?? "";
  const facts = { status: response.status, type };
  const headers = [...response.headers].flat().join("\n");
  if (response.body === null || method === "HEAD") return { ...facts, text: headers, hasBody: false };
  // A stream that never ends: what comes first will do; one that waits for people has nothing to say yet.
  const text =
    type.startsWith("text/event-stream") && response.headers.get("x-accel-buffering") === "no"
      ? await firstChunk(response.body)
      : await response.text();
  return { ...facts, text, hasBody: text !== "" };
}

async function firstChunk(body: ReadableStream<Uint8Array>): Promise<string> {
  const reader = body.getReader();
  const { value } = await Promise.race([reader.read(), setTimeout(SILENCE_MS, { value: undefined })]);
  await reader.cancel();
  return new TextDecoder().decode(value);
}

/** Knows what no answer may be. */
class Inspector {
  readonly #forbidden: readonly string[];
  readonly #components: JsonObject;
  readonly #validators = new Map<Operation, Validator>();

  constructor(document: JsonObject, forbidden: readonly string[]) {
    this.#components = objectOf(document["components"]);
    this.#forbidden = forbidden;
  }

  flawOf(answer: Seen, operation: Operation, draft: Draft): string | undefined {
    if (answer.status >= 500) return `a ${answer.status}`;
    const leaked = this.#forbidden.find((text) => answer.text.includes(text));
    if (leaked !== undefined) return `it tells ${leaked}`;
    if (/\n\s+at .+[:(]\d+|node_modules|file:\/\/|SQLITE_|node:internal/.test(answer.text))
      return "it tells of our code";
    if (!answer.hasBody) return undefined;
    if (answer.status >= 400) return errorFlaw(answer, operation);
    if (!draft.arrives || operation.answer === undefined || answer.status !== 200) return undefined;
    return this.#answerFlaw(answer, operation, operation.answer);
  }

  #answerFlaw(answer: Seen, operation: Operation, schema: JsonObject): string | undefined {
    const validator =
      this.#validators.get(operation) ??
      new Validator({ ...schema, components: this.#components }, "2020-12", false);
    this.#validators.set(operation, validator);
    if (!answer.type.startsWith("application/json")) return undefined;
    const { valid, errors } = validator.validate(JSON.parse(answer.text));
    return valid ? undefined : `not as described: ${JSON.stringify(errors.slice(-2))}`;
  }
}

function errorFlaw({ status, type, text }: Seen, { isAdk }: Operation): string | undefined {
  const told = parse(text);
  if (!isJsonObject(told)) return "an error that is no object";
  if (type.startsWith("application/problem+json")) {
    const whole = ["type", "title", "detail", "code"].every((name) => typeof told[name] === "string");
    return whole && told["status"] === status ? undefined : "a problem that lacks something";
  }
  return isAdk && typeof told["error"] === "string" ? undefined : `an error of type ${type}`;
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

// What no client can send, no server has to answer.
function toRequest({ method, address, headers, body }: Draft): Request | undefined {
  const withBody = body !== undefined && method !== "GET" && method !== "HEAD";
  try {
    return new Request(`http://127.0.0.1${address}`, { method, headers, ...(withBody ? { body } : {}) });
  } catch {
    return undefined;
  }
}

function describe({ method, address, headers, body }: Draft): string {
  const sent = body === undefined ? "" : typeof body === "string" ? body.slice(0, 2_000) : body.join(",");
  return `${method} ${address.slice(0, 500)} ${JSON.stringify(headers).slice(0, 500)} ${sent}`;
}
