import { appendFile, readFile, rename, truncate } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { answerTwice, status, WebhookReceiver } from "../../../test/support/http/webhook-receiver.ts";
import { type Crash, dyingStore } from "../../../test/support/ledger/dying-store.ts";
import { wrapLedger } from "../../../test/support/ledger/ledger-proxy.ts";
import { useResources } from "../../../test/support/resources.ts";
import { RestingClock } from "../../../test/support/resting-clock.ts";
import { Engine, type Ledger, partsOf, runRetention, toPrincipal } from "../../engine/index.ts";
import { createLedger } from "../../stores/index.ts";
import { createSiem, listSetAside, type RunningSiem, type SiemOptions } from "./index.ts";

const resources = useResources();
const STEP_MS = 250;
/** For tests in which an export waits longer and longer. */
const WAIT_MS = 2_000;
const HELD_MS = 30_000;
/** After the third failure, and how long an attempt may take. */
const RETRY_MS = 4_000;
const ATTEMPT_MS = 15_000;
const MOST_WRITES = 20;

interface Line {
  readonly id: string;
  readonly seq: number;
  readonly kind: string;
}

interface Scene {
  readonly clock: RestingClock;
  readonly ledger: Ledger;
  readonly file: string;
  readonly problems: string[];
  readonly engine: Engine;
  readonly pay: (key: string) => Promise<void>;
  readonly start: (over: Partial<SiemOptions>) => RunningSiem;
  /** Has `until` wait for this export too. */
  readonly watch: (running: RunningSiem) => RunningSiem;
  /** Lets time pass until it is so, whenever every export has done what it can do by then. */
  readonly until: (isSo: () => boolean | Promise<boolean>, stepMs?: number) => Promise<void>;
  /** The lines of a file that are JSON. */
  readonly lines: (file?: string) => Promise<readonly Line[]>;
  /** The numbers of all records. */
  readonly journal: () => Promise<readonly number[]>;
}

async function createScene(): Promise<Scene> {
  const folder = await resources.folder();
  const clock = new RestingClock();
  const ledger = await createLedger("memory:", { clock });
  resources.add(() => ledger.close());
  const engine = new Engine({ ledger, clock });
  const gated = engine.gate("pay", { requireConfirmation: true }, async () => 1);
  const file = join(folder, "journal.jsonl");
  const problems: string[] = [];
  const watched = new Set<RunningSiem>();
  const watch = (running: RunningSiem): RunningSiem => {
    watched.add(running);
    return {
      async stop() {
        watched.delete(running);
        await running.stop();
      },
    };
  };
  return {
    clock,
    ledger,
    engine,
    file,
    problems,
    async pay(key) {
      await gated({ to: key }, { key, by: { id: "ana" } });
    },
    start(over) {
      const siem = createSiem({ ledger, clock, ...over });
      const running = watch(siem.start({ onProblem: (it) => problems.push(it) }));
      resources.add(() => running.stop());
      return running;
    },
    watch,
    async until(isSo, stepMs = STEP_MS) {
      for (;;) {
        await clock.rested(watched.size);
        if (await isSo()) return;
        await clock.advance(stepMs);
      }
    },
    lines: async (name = file) => parseLines(await readFile(name, "utf8").catch(() => "")),
    journal: async () => (await ledger.journal.records({ after: 0, limit: 1_000 })).map(({ seq }) => seq),
  };
}

function parseLines(text: string): readonly Line[] {
  return text.split("\n").flatMap((line) => {
    try {
      return [JSON.parse(line) as Line];
    } catch {
      return [];
    }
  });
}

/** The numbers in the order in which they first came. What came twice must have the same id. */
function firstOf(lines: readonly Line[]): readonly number[] {
  const ids = new Map(lines.map(({ id, seq }) => [seq, id]));
  expect(lines.filter(({ id, seq }) => ids.get(seq) !== id)).toEqual([]);
  return [...ids.keys()];
}

async function receive(): Promise<WebhookReceiver> {
  const receiver = await new WebhookReceiver().listen();
  resources.add(() => receiver.close());
  return receiver;
}

function linesAt({ received }: WebhookReceiver): readonly Line[] {
  return received.flatMap(({ body }) => parseLines(body));
}

test("writes the whole journal in order, also what was before it, and goes on there after a restart", async () => {
  const { pay, start, until, lines, journal, file, ledger } = await createScene();
  await pay("a");
  const first = start({ file });
  await until(async () => (await lines()).length === 1);
  await first.stop();
  await pay("b");
  await pay("c");
  start({ file });
  await until(async () => (await lines()).length === 3);
  expect((await lines()).map(({ seq }) => seq)).toEqual(await journal());
  const [record] = await ledger.journal.records({ after: 0, limit: 1 });
  expect((await lines())[0]).toEqual({
    id: expect.stringMatching(/^rec_[0-9a-f]{32}$/) as string,
    seq: record?.seq,
    at: "2026-01-01T00:00:00.000Z",
    kind: "confirmation-requested",
    session: record?.stream,
    n: record?.n,
    body: record?.body,
    hash: record?.hash,
  });
});

test.each([true, false])(
  "a process that dies at any write leaves no gap, and what comes twice has the same id (committed: %s)",
  async (committed) => {
    for (let writes = 0; writes < MOST_WRITES; writes += 1) {
      const { clock, ledger, pay, start, watch, until, lines, journal, file } = await createScene();
      for (const key of ["a", "b", "c"]) await pay(key);
      const crash: Crash = { writes, committed };
      let died = false;
      const doomed = createSiem({ ledger: dyingStore(ledger, crash), clock, file });
      const dying = watch(doomed.start({ onError: () => (died = true) }));
      await until(async () => died || (await lines()).length === 3);
      await dying.stop();
      await pay("d");
      // The dead process holds the place for so long.
      await clock.advance(HELD_MS);
      start({ file });
      await until(async () => firstOf(await lines()).length === 4);
      expect({ writes, seqs: firstOf(await lines()) }).toEqual({ writes, seqs: await journal() });
      if (!died) return;
    }
    throw new Error("It writes more than expected.");
  },
);

test("of several processes one writes at a time", async () => {
  const { pay, start, until, lines, journal, file } = await createScene();
  for (let count = 0; count < 3; count += 1) start({ file });
  for (let count = 0; count < 10; count += 1) {
    await pay(`p${count}`);
    await until(async () => (await lines()).length > count);
  }
  expect((await lines()).map(({ seq }) => seq)).toEqual(await journal());
});

test("the beginning of a line that a process left stands alone", async () => {
  const { pay, start, until, lines, journal, file } = await createScene();
  await appendFile(file, '{"id":"rec_1","se');
  await pay("a");
  start({ file });
  await until(async () => (await lines()).length === 1);
  expect((await lines()).map(({ seq }) => seq)).toEqual(await journal());
  expect(await readFile(file, "utf8")).toMatch(/^\{"id":"rec_1","se\n\{.*\}\n$/);
});

test("a file that is renamed is followed by a new one; a file that is cut is reported", async () => {
  const { pay, start, until, lines, journal, file, problems } = await createScene();
  start({ file });
  await pay("a");
  await until(async () => (await lines()).length === 1);
  await rename(file, `${file}.1`);
  await pay("b");
  await until(async () => (await lines()).length === 1);
  const seqs = [...(await lines(`${file}.1`)), ...(await lines())].map(({ seq }) => seq);
  expect(seqs).toEqual(await journal());
  expect(problems).toEqual([]);
  await truncate(file, 0);
  await pay("c");
  await until(async () => problems.length > 0);
  expect(problems).toEqual([expect.stringMatching(/somebody cut it.*a new name/)]);
  expect((await lines()).map(({ seq }) => seq)).toEqual((await journal()).slice(-1));
});

test("a folder that is missing is a problem that is reported, and nothing is left out", async () => {
  const { pay, start, until, journal, file, problems, ledger } = await createScene();
  const missing = join(file, "no", "journal.jsonl");
  await pay("a");
  const siem = createSiem({ ledger, file: missing });
  expect(await siem.check?.(AbortSignal.timeout(1_000))).toEqual([expect.stringMatching(/ENOENT/)]);
  const running = start({ file: missing });
  await until(() => problems.length > 1);
  await running.stop();
  expect(problems[0]).toMatch(/could not be written \(ENOENT\)/);
  start({ file });
  await until(async () => (await readFile(file, "utf8").catch(() => "")) !== "");
  expect(parseLines(await readFile(file, "utf8")).map(({ seq }) => seq)).toEqual(await journal());
});

test("an address gets batches with the secret, and is tried again after 429, 5xx and no answer", async () => {
  const { pay, start, until, journal, problems, clock } = await createScene();
  const receiver = await receive();
  const answers = [
    status(429, { "retry-after": "7" }),
    status(503),
    status(302, { location: "/x" }),
    () => {},
  ];
  receiver.answer = (response, received) => (answers.shift() ?? status(204))(response, received);
  await pay("a");
  await pay("b");
  start({ url: `${receiver.url}/ingest`, authorization: "Bearer s3cret" });
  const [first] = await receiver.count(1);
  expect(first?.headers).toMatchObject({
    authorization: "Bearer s3cret",
    "content-type": "application/x-ndjson",
  });
  await until(() => problems.length === 1);
  await clock.advance(6_000);
  expect(receiver.received).toHaveLength(1);
  await until(() => problems.length === 3);
  // The next one is never answered.
  await clock.advance(RETRY_MS);
  await receiver.count(4);
  await clock.advance(ATTEMPT_MS);
  await until(() => problems.length === 4);
  await pay("c");
  await until(() => new Set(linesAt(receiver).map(({ seq }) => seq)).size === 3);
  expect(firstOf(linesAt(receiver))).toEqual(await journal());
  expect(problems.join(" ")).toMatch(/answered 429.*answered 503.*answered 302.*did not answer in time/);
  expect(problems.join(" ")).not.toMatch(/s3cret|ingest/);
});

test("a batch that is too large is halved, and a single record is tried again", async () => {
  const { pay, start, until, journal, problems } = await createScene();
  const receiver = await receive();
  let most = 1;
  receiver.answer = (response, received) =>
    status(parseLines(received.body).length > most ? 413 : 204)(response, received);
  for (const key of ["a", "b", "c", "d", "e"]) await pay(key);
  start({ url: receiver.url });
  await until(() => receiver.received.filter(({ body }) => parseLines(body).length === 1).length >= 5);
  const single = receiver.received.filter(({ body }) => parseLines(body).length === 1);
  expect(firstOf(single.flatMap(({ body }) => parseLines(body)))).toEqual(await journal());
  expect(problems).toEqual([]);
  most = 0;
  await pay("f");
  await until(() => problems.length > 0);
  most = 1;
  const last = (await journal()).at(-1);
  const before = receiver.received.length;
  await until(() => receiver.received.length > before);
  expect(parseLines(receiver.received.at(-1)?.body ?? "").map(({ seq }) => seq)).toEqual([last]);
});

/** An address that refuses one record, by its number, and takes all others. */
function refuse(receiver: WebhookReceiver, isRefused: (seq: number) => boolean, code = 400): void {
  receiver.answer = (response, received) =>
    status(parseLines(received.body).some(({ seq }) => isRefused(seq)) ? code : 204)(response, received);
}

/** The numbers that were taken. */
function taken({ received }: WebhookReceiver, isRefused: (seq: number) => boolean): readonly number[] {
  const lines = received
    .map(({ body }) => parseLines(body))
    .filter((batch) => !batch.some(({ seq }) => isRefused(seq)));
  return [...new Set(lines.flat().map(({ seq }) => seq))].toSorted((one, other) => one - other);
}

test.each([400, 413, 415, 422])(
  "a record that is always refused (%s) is set aside, is noted with the place, and the others follow",
  async (code) => {
    const { pay, start, until, journal, problems, ledger } = await createScene();
    const receiver = await receive();
    for (const key of ["a", "b", "c", "d", "e"]) await pay(key);
    const all = await journal();
    const odd = all[2] ?? 0;
    const isRefused = (seq: number): boolean => seq === odd;
    refuse(receiver, isRefused, code);
    start({ url: receiver.url });
    await until(() => taken(receiver, isRefused).length === 4, WAIT_MS);
    await until(async () => (await listSetAside(ledger.items)).length === 1, WAIT_MS);
    expect(taken(receiver, isRefused)).toEqual(all.filter((seq) => seq !== odd));
    const [found] = await listSetAside(ledger.items);
    expect(found).toMatchObject({ name: "siem", count: 1, newest: [{ seq: odd }] });
    expect(found?.newest[0]?.reason).toContain(`answered ${code}`);
    expect(problems.some((problem) => problem.includes(`Record ${odd}`))).toBe(true);
  },
);

test("an address that refuses everything is waited for, and nothing is left out", async () => {
  const { pay, start, until, journal, problems, ledger } = await createScene();
  const receiver = await receive();
  for (const key of ["a", "b", "c"]) await pay(key);
  refuse(receiver, () => true);
  start({ url: receiver.url });
  await until(() => problems.some((problem) => problem.includes("leaves nothing out")), WAIT_MS);
  receiver.answer = status(204);
  const before = receiver.received.length;
  const after = (): readonly Line[] =>
    receiver.received.slice(before).flatMap(({ body }) => parseLines(body));
  await until(() => new Set(after().map(({ seq }) => seq)).size === 3, WAIT_MS);
  expect(firstOf(after())).toEqual(await journal());
  expect(await listSetAside(ledger.items)).toEqual([]);
});

test.each([401, 403, 404, 405])(
  "an answer about the login or the address (%s) sets nothing aside, though others are accepted",
  async (code) => {
    const { pay, start, until, journal, problems, ledger } = await createScene();
    const receiver = await receive();
    for (const key of ["a", "b", "c"]) await pay(key);
    const [first] = await journal();
    refuse(receiver, (seq) => seq === first, code);
    start({ url: receiver.url });
    await until(() => problems.length >= 8, WAIT_MS);
    const before = receiver.received.length;
    receiver.answer = status(204);
    await until(() => receiver.received.length > before, WAIT_MS);
    expect(parseLines(receiver.received[before]?.body ?? "").map(({ seq }) => seq)).toEqual(await journal());
    expect(await listSetAside(ledger.items)).toEqual([]);
  },
);

test("a record that is refused once after an outage is tried again, and not set aside", async () => {
  const { pay, start, until, journal, ledger } = await createScene();
  const receiver = await receive();
  for (const key of ["a", "b"]) await pay(key);
  const answers = [503, 503, 503, 503, 400, 400];
  const accepted: number[] = [];
  receiver.answer = (response, received) => {
    const code = answers.shift() ?? 204;
    if (code === 204) accepted.push(...parseLines(received.body).map(({ seq }) => seq));
    status(code)(response, received);
  };
  start({ url: receiver.url });
  const [first = 0, second = 0] = await journal();
  await until(() => accepted.includes(second), WAIT_MS);
  expect(accepted).toContain(first);
  expect(await listSetAside(ledger.items)).toEqual([]);
});

test("of those that are tried behind a refused record, one that was refused once is sent again", async () => {
  const { pay, start, until, journal, ledger } = await createScene();
  const receiver = await receive();
  for (const key of ["a", "b", "c", "d"]) await pay(key);
  const [odd = 0, once = 0, ...others] = await journal();
  const accepted = new Set<number>();
  let wasRefused = false;
  receiver.answer = (response, received) => {
    const seqs = parseLines(received.body).map(({ seq }) => seq);
    const isOnce = seqs[0] === once && !wasRefused;
    if (isOnce) wasRefused = true;
    const isRefused = isOnce || seqs.includes(odd);
    if (!isRefused) for (const seq of seqs) accepted.add(seq);
    status(isRefused ? 400 : 204)(response, received);
  };
  start({ url: receiver.url });
  await until(async () => (await listSetAside(ledger.items)).length === 1, WAIT_MS);
  await until(() => others.every((seq) => accepted.has(seq)), WAIT_MS);
  expect([...accepted].toSorted((one, other) => one - other)).toEqual([once, ...others]);
  expect(await listSetAside(ledger.items)).toMatchObject([{ count: 1, newest: [{ seq: odd }] }]);
});

test("the last record waits, though it is refused: nothing is held up by it", async () => {
  const { pay, start, until, journal, problems, ledger } = await createScene();
  const receiver = await receive();
  await pay("a");
  const [first] = await journal();
  const isRefused = (seq: number): boolean => seq === first;
  refuse(receiver, isRefused);
  start({ url: receiver.url });
  await until(() => problems.some((problem) => problem.includes("leaves nothing out")), WAIT_MS);
  expect(await listSetAside(ledger.items)).toEqual([]);
  await pay("b");
  await until(async () => (await listSetAside(ledger.items)).length === 1, WAIT_MS);
  expect(taken(receiver, isRefused)).toEqual((await journal()).slice(1));
});

test.each([true, false])(
  "a process that dies while it sets a record aside leaves no gap but that one (committed: %s)",
  async (committed) => {
    for (let writes = 0; writes < MOST_WRITES; writes += 1) {
      const { clock, ledger, pay, start, watch, until, journal } = await createScene();
      const receiver = await receive();
      for (const key of ["a", "b", "c"]) await pay(key);
      const odd = (await journal())[1];
      const isRefused = (seq: number): boolean => seq === odd;
      refuse(receiver, isRefused);
      let died = false;
      const store = dyingStore(ledger, { writes, committed });
      const doomed = createSiem({ ledger: store, clock, url: receiver.url });
      const dying = watch(doomed.start({ onError: () => (died = true) }));
      await until(async () => died || taken(receiver, isRefused).length === 2, WAIT_MS);
      await dying.stop();
      await clock.advance(HELD_MS);
      start({ url: receiver.url });
      await until(async () => (await listSetAside(ledger.items)).length === 1, WAIT_MS);
      await until(() => taken(receiver, isRefused).length === 2, WAIT_MS);
      const [found] = await listSetAside(ledger.items);
      expect({ writes, count: found?.count, seqs: found?.newest.map(({ seq }) => seq) }).toEqual({
        writes,
        count: 1,
        seqs: [odd],
      });
      if (!died) return;
    }
    throw new Error("It writes more than expected.");
  },
);

test("a second answer is not taken for the answer to the next batch", async () => {
  const { pay, start, until, journal } = await createScene();
  const receiver = await receive();
  receiver.answer = (response) => answerTwice(response);
  await pay("a");
  start({ url: receiver.url });
  await until(() => linesAt(receiver).length === 1);
  receiver.answer = status(503);
  await pay("b");
  await until(() => linesAt(receiver).length >= 2);
  receiver.answer = status(204);
  await until(() => linesAt(receiver).filter(({ seq }) => seq !== linesAt(receiver)[0]?.seq).length >= 2);
  expect(firstOf(linesAt(receiver))).toEqual(await journal());
});

test("where the database lost what was exported, the journal is exported again", async () => {
  const { pay, start, until, lines, journal, file, problems, ledger } = await createScene();
  await pay("a");
  await pay("b");
  const first = start({ file });
  await until(async () => (await lines()).length === 2);
  await first.stop();
  const known = await ledger.items.get("siem", "siem");
  if (known === undefined) throw new Error("There is no place.");
  const lost = { ...(known.value as object), hash: "of a record that is gone" };
  await ledger.items.put({ kind: "siem", id: "siem", value: lost }, known.version);
  await pay("c");
  start({ file });
  await until(async () => (await lines()).length === 5);
  expect(firstOf(await lines())).toEqual(await journal());
  expect(problems).toEqual([expect.stringMatching(/lost records/)]);
});

test("where what was exported last was pruned since, the export goes on behind it", async () => {
  const { clock, engine, start, until, lines, file, problems, ledger } = await createScene();
  const DAY_MS = 86_400_000;
  const prune = async (): Promise<void> => {
    await engine.head();
    await clock.advance(2 * DAY_MS);
    const rules = {
      version: "v1",
      shortestContentMs: DAY_MS,
      contentMs: () => DAY_MS,
      journal: { shortestMs: DAY_MS, keepMs: () => DAY_MS },
    };
    const decider = { by: toPrincipal({ id: "ops" }), via: "cli" };
    await runRetention(partsOf(engine), { rules, decider, pauseMs: 0 });
  };
  await engine.createSession({ app: "shop", user: "ana", id: "one" }, { state: { a: 1 } });
  await engine.deleteSession({ app: "shop", user: "ana", id: "one" }, { id: "ana" });
  const first = start({ file });
  await until(async () => (await lines()).length === 1);
  await first.stop();
  await prune();
  const left = await ledger.journal.records({ after: 0, limit: 100 });
  expect(left.map(({ kind }) => kind)).not.toContain("session-deleted");
  start({ file });
  await until(async () => (await lines()).length === 1 + left.length, WAIT_MS);
  expect((await lines()).slice(1).map(({ seq }) => seq)).toEqual(left.map(({ seq }) => seq));
  expect(problems).toEqual([expect.stringMatching(/pruned/)]);
});

test("as OCSF, every line has what the class API Activity requires", async () => {
  const { pay, start, until, file, ledger } = await createScene();
  await pay("a");
  start({ file, format: "ocsf" });
  await until(async () => (await readFile(file, "utf8").catch(() => "")) !== "");
  const [record] = await ledger.journal.records({ after: 0, limit: 1 });
  if (record === undefined) throw new Error("There is no record.");
  const { confirmation, call } = record.body as { readonly confirmation: string; readonly call: string };
  expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({
    metadata: {
      version: "1.8.0",
      uid: expect.stringMatching(/^rec_/) as string,
      event_code: "confirmation-requested",
      correlation_uid: confirmation,
      product: { name: "Countersign" },
    },
    category_uid: 6,
    class_uid: 6003,
    activity_id: 1,
    type_uid: 600_301,
    severity_id: 1,
    status_id: 1,
    time: Date.UTC(2026, 0, 1),
    actor: { app_name: "countersign" },
    api: { operation: "confirmation-requested" },
    src_endpoint: { svc_name: "countersign" },
    resources: [{ type: "tool call", uid: call, name: "pay" }],
    unmapped: { seq: record.seq, body: record.body },
  });
});

test.each([
  ["neither a file nor an address", {}],
  ["both", { file: "x", url: "https://siem.example" }],
  ["a connection that others can read", { url: "http://siem.example" }],
  ["a password in the address", { url: "https://a:b@siem.example" }],
  ["a secret that is no header", { url: "https://siem.example", authorization: "a\nb" }],
  ["a secret without an address", { file: "x", authorization: "Bearer a" }],
  ["a strange name", { file: "x", name: "A b" }],
  ["a strange format", { file: "x", format: "cef" as never }],
])("refuses %s", async (_name, options) => {
  const { ledger } = await createScene();
  expect(() => createSiem({ ledger, ...options })).toThrow(
    expect.objectContaining({ code: "invalid-option" }),
  );
});

test("a ledger that refuses to be listened to is reported, and does not end the process", async () => {
  const { ledger, clock, file } = await createScene();
  const refusal = new Error("A newer version migrated this ledger.");
  const refusing = wrapLedger(ledger, {
    onChange: () => {
      throw refusal;
    },
  });
  const errors: unknown[] = [];
  const running = createSiem({ ledger: refusing, clock, file }).start({
    onError: (error) => errors.push(error),
  });
  expect(errors).toEqual([refusal]);
  await running.stop();
});
