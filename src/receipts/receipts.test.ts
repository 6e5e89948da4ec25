import { cpSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, describe, expect, test } from "vitest";
import { rewriteConsistently } from "../../test/support/ledger/rewrite-file.ts";
import { useResources } from "../../test/support/resources.ts";
import {
  Engine,
  ManualClock,
  type PublishRun,
  partsOf,
  publishReceipts,
  type Receipt,
  type ReceiptTarget,
  type ReceiptVerification,
  receiptKeyOf,
  verifyReceipts,
} from "../engine/index.ts";
import { killableEngine } from "../engine/testing/execution.ts";
import { createLedger } from "../stores/index.ts";
import { openTargets } from "./open-targets.ts";
import { receiptFileLines } from "./receipt-lines.ts";

const SECRET = "a secret that only the processes know";
const HOUR_MS = 3_600_000;
const resources = useResources();

let root: string;
let clock: ManualClock;

beforeEach(async () => {
  root = await resources.folder();
  clock = new ManualClock();
});

async function openEngine(file = "ledger.db", secret: string | undefined = SECRET): Promise<Engine> {
  const ledger = await createLedger(`sqlite:${join(root, file)}`, { clock });
  resources.add(() => ledger.close());
  return new Engine({ ledger, clock, ...(secret === "" ? {} : { secret }) });
}

/** One more question in the journal. */
async function happen(engine: Engine, key: string): Promise<void> {
  await clock.advance(1);
  await engine.gate(
    `pay ${key}`,
    { requireConfirmation: true },
    async () => "paid",
  )({}, { key, by: { id: "ana" } });
}

const FILE = "receipts.jsonl";

async function fileTarget(engine: Engine, file = FILE, name = "worm"): Promise<readonly ReceiptTarget[]> {
  return openTargets(engine, { targets: [{ kind: "file", name, path: join(root, file) }] }, undefined);
}

async function publish(engine: Engine, everyMs?: number): Promise<PublishRun> {
  const targets = await fileTarget(engine);
  return publishReceipts(partsOf(engine), { targets, ...(everyMs === undefined ? {} : { everyMs }) });
}

/** Three receipts, with something in the journal before each. */
async function published(): Promise<Engine> {
  const engine = await openEngine();
  for (const key of ["a", "b", "c"]) {
    await happen(engine, key);
    expect(await publish(engine)).toEqual({ published: 1, failed: 0, ended: "done" });
  }
  return engine;
}

function lines(file = FILE): string[] {
  return readFileSync(join(root, file), "utf8").trimEnd().split("\n");
}

function receipts(): readonly Receipt[] {
  return lines().map((line) => JSON.parse(line) as Receipt);
}

async function check(engine?: Engine, key = receiptKeyOf(SECRET)): Promise<ReceiptVerification> {
  const file = { name: FILE, lines: receiptFileLines(join(root, FILE)) };
  return verifyReceipts([file], { key, ...(engine === undefined ? {} : { ledger: engine.ledger }) });
}

function faultsOf({ ok, faults }: ReceiptVerification): string {
  expect(ok).toBe(faults.length === 0);
  return faults.map(({ where, what }) => `${where}: ${what}`).join("\n");
}

function tamper(...statements: readonly string[]): void {
  const shell = new DatabaseSync(join(root, "ledger.db"));
  for (const statement of statements)
    expect(Number(shell.prepare(statement).run().changes), statement).toBeGreaterThan(0);
  shell.close();
}

describe("receipts", () => {
  test("say what the ledger had, one after the other; with the public key alone anybody can check them", async () => {
    const engine = await published();
    const [first, second, third] = receipts();
    expect(first).toMatchObject({ target: "worm", number: 1, follows: "", commits: 1 });
    expect(second).toMatchObject({ number: 2, follows: first?.signature });
    expect(third).toMatchObject({ number: 3, head: await engine.head(), commits: 3 });
    expect(await check()).toMatchObject({ ok: true, receipts: 3, newest: { head: third?.head } });
    expect(faultsOf(await check(engine))).toBe("");
    expect((await engine.verify({ head: third?.head ?? "" })).ok).toBe(true);
  });

  test("are signed also when nothing happened: one that stays away is a sign", async () => {
    const engine = await openEngine();
    await publish(engine);
    await publish(engine);
    expect(receipts().map(({ number, head }) => [number, head])).toEqual([
      [1, "0:empty"],
      [2, "0:empty"],
    ]);
    expect(faultsOf(await check(engine))).toBe("");
  });

  test("are due for each target when its last one is old, also if the clock was set back", async () => {
    const engine = await openEngine();
    expect(await publish(engine, HOUR_MS)).toMatchObject({ published: 1 });
    await clock.advance(HOUR_MS - 1);
    expect(await publish(engine, HOUR_MS)).toEqual({ published: 0, failed: 0, ended: "done" });
    await clock.advance(1);
    expect(await publish(engine, HOUR_MS)).toMatchObject({ published: 1 });
    const earlier = new ManualClock(clock.now() - 3 * HOUR_MS);
    const ledger = await createLedger(`sqlite:${join(root, "ledger.db")}`, { clock: earlier });
    resources.add(() => ledger.close());
    expect(await publish(new Engine({ ledger, clock: earlier, secret: SECRET }), HOUR_MS)).toMatchObject({
      published: 1,
    });
  });

  test("need a secret: what anybody can sign proves nothing", async () => {
    const engine = await openEngine("plain.db", "");
    await expect(publish(engine)).rejects.toMatchObject({
      code: "invalid-option",
      message: expect.stringContaining("COUNTERSIGN_SECRET") as string,
    });
  });
});

interface Attack {
  readonly name: string;
  readonly act: (all: string[]) => readonly string[];
  readonly found: string;
}

const edit = (i: number, from: string | RegExp, to: string) => (all: string[]) =>
  all.with(i, (all[i] ?? "").replace(from, to));

/** The line with another first character behind this text. */
const altered = (i: number, before: string) => (all: string[]) => {
  const line = all[i] ?? "";
  const place = line.indexOf(before) + before.length;
  return all.with(i, `${line.slice(0, place)}${line[place] === "_" ? "-" : "_"}${line.slice(place + 1)}`);
};

const ATTACKS: readonly Attack[] = [
  {
    name: "a time altered",
    act: edit(1, /"at":"..../, '"at":"1999'),
    found: "line 2: its signature does not fit",
  },
  {
    name: "a head altered",
    act: altered(1, '"head":"2:'),
    found: "line 2: its signature does not fit",
  },
  { name: "a count altered", act: edit(1, '"commits":2', '"commits":9'), found: "line 2: its signature" },
  { name: "a ledger altered", act: altered(2, '"ledger":"'), found: "line 3: its signature" },
  { name: "another target", act: edit(2, '"worm"', '"mole"'), found: "line 3: its signature does not fit" },
  { name: "an added member", act: edit(1, '"number"', '"note":"ok","number"'), found: "it is not a receipt" },
  {
    name: "a member named twice",
    act: edit(1, '"number"', '"commits":9,"number"'),
    found: "it is not a receipt",
  },
  { name: "a line that is none", act: (all) => all.with(1, "hello"), found: "line 2: it is not a receipt" },
  {
    name: "a line cut off",
    act: (all) => all.with(2, all[2]?.slice(0, 99) ?? ""),
    found: "it is not a receipt",
  },
  { name: "the first line removed", act: (all) => all.slice(1), found: "receipt 1 before it is missing" },
  { name: "a line removed", act: (all) => all.toSpliced(1, 1), found: "receipt 2 before it is missing" },
  {
    name: "lines that changed places",
    act: ([a = "", b = "", c = ""]) => [a, c, b],
    found: "lines were moved",
  },
  { name: "all lines removed", act: () => [], found: "it has no receipts" },
  { name: "all lines emptied", act: () => ["", "", ""], found: "it has no receipts" },
];

/** Three receipts for all attacks. */
let three: readonly string[] | undefined;

async function threeLines(): Promise<string[]> {
  if (three === undefined) {
    await published();
    three = lines();
  }
  return [...three];
}

describe("audit verify --receipts finds, without the ledger,", () => {
  test.each(ATTACKS)("$name", async ({ act, found }) => {
    const left = act(await threeLines());
    writeFileSync(join(root, FILE), left.length === 0 ? "" : `${left.join("\n")}\n`);
    expect(faultsOf(await check())).toContain(found);
  });

  test("receipts made anew by somebody without the secret", async () => {
    const forged = await openEngine("forged.db", "another secret");
    await happen(forged, "x");
    await publishReceipts(partsOf(forged), { targets: await fileTarget(forged) });
    expect(faultsOf(await check())).toContain("it is signed with another key");
    const unknowing = await verifyReceipts([{ name: FILE, lines: receiptFileLines(join(root, FILE)) }]);
    expect(unknowing.ok).toBe(true);
    expect(unknowing.cannotDetect.join()).toContain("Receipts made anew with another key");
  });

  test("a line that is there twice, and no other: it was sent again after a crash", async () => {
    const engine = await published();
    const [first = "", second = "", third = ""] = lines();
    writeFileSync(join(root, FILE), `${[first, second, first, second, third].join("\n")}\n`);
    expect(await check(engine)).toMatchObject({ ok: true, receipts: 3 });
  });

  test("a file that is not there", async () => {
    expect(faultsOf(await check())).toContain("it cannot be read");
  });
});

describe("audit verify --receipts finds, with the ledger,", () => {
  test("a journal that was truncated after a receipt, with its checkpoints", async () => {
    const engine = await published();
    tamper(
      "delete from checkpoints where k = 3",
      "delete from log where seq = (select max(seq) from log)",
      "delete from documents where key not in (select session from log)",
    );
    expect((await engine.verify()).ok).toBe(true);
    const faults = faultsOf(await check(engine));
    expect(faults).toMatch(/^receipts.jsonl line 3: at .* the journal had checkpoint 3 over 3 commits/);
    expect(faults).toContain("it was truncated or rewritten, or the ledger was restored");
  });

  test("a ledger that was restored from a backup, also after it went on and published more", async () => {
    const engine = await published();
    await engine.ledger.close();
    cpSync(join(root, "ledger.db"), join(root, "backup.db"));
    const live = await openEngine();
    await happen(live, "d");
    await publish(live);
    await live.ledger.close();
    cpSync(join(root, "backup.db"), join(root, "ledger.db"));
    const restored = await openEngine();
    expect((await restored.verify()).ok).toBe(true);
    expect(faultsOf(await check(restored))).toMatch(
      /^receipts.jsonl line 4: .*restored from an older backup/,
    );
    // It goes on under the same name, and hides nothing by that.
    await happen(restored, "e");
    await happen(restored, "f");
    const warnings: string[] = [];
    await publishReceipts(partsOf(restored), {
      targets: await fileTarget(restored),
      onWarning: (_target, warning) => warnings.push(warning),
    });
    expect(warnings).toEqual([expect.stringContaining("does not end with receipt 3") as string]);
    const faults = faultsOf(await check(restored));
    expect(faults).toMatch(/line 4: at .* and it does not have it now/);
    expect(faults).toContain("line 5: another receipt 4 is there too");
    expect(faultsOf(await check())).toContain("another receipt 4 is there too");
  });

  test("a ledger that was set back, although nothing happened in it since", async () => {
    const engine = await published();
    await engine.ledger.close();
    cpSync(join(root, "ledger.db"), join(root, "backup.db"));
    const live = await openEngine();
    await publish(live);
    await publish(live);
    await live.ledger.close();
    cpSync(join(root, "backup.db"), join(root, "ledger.db"));
    expect(faultsOf(await check(await openEngine()))).toBe(
      "target worm: the ledger knows of 3 receipts, and here are 5: it was set back to an earlier state",
    );
  });

  test("a journal that was rewritten with the secret, every hash of it", async () => {
    const engine = await openEngine();
    const pay = engine.gate("pay", { requireConfirmation: true }, async () => "paid");
    const outcome = await pay({}, { key: "k", by: { id: "ana" } });
    if (outcome.status !== "pending") throw new Error(outcome.status);
    await engine.approve(outcome.confirmation.id, { by: { id: "ana" } });
    await publish(engine);
    rewriteConsistently(join(root, "ledger.db"), engine.ledger.digestKey, SECRET);
    expect((await engine.verify()).ok).toBe(true);
    expect(faultsOf(await check(engine))).toContain("it was truncated or rewritten");
  });

  test("the newest lines removed", async () => {
    const engine = await published();
    writeFileSync(join(root, FILE), `${lines().slice(0, 1).join("\n")}\n`);
    expect(faultsOf(await check())).toBe("");
    expect((await check()).cannotDetect.join()).toContain("Missing newest receipts");
    expect(faultsOf(await check(engine))).toBe(
      "target worm: the ledger published 3 receipts, and the last one here is 1",
    );
  });

  test("nothing where whoever writes to the database and to the file has the series begin anew, and says so", async () => {
    const engine = await published();
    tamper(
      "delete from checkpoints where k = 3",
      "delete from log where seq = (select max(seq) from log)",
      "delete from documents where key not in (select session from log)",
      "delete from items where kind = 'receipt-target'",
    );
    writeFileSync(join(root, FILE), "");
    await publish(engine);
    const checked = await check(engine);
    expect(checked).toMatchObject({ ok: true, newest: { commits: 2 } });
    expect(checked.cannotDetect.join()).toContain("or can write to the ledger's database");
  });

  test("receipts of another ledger with the same secret", async () => {
    await published();
    const other = await openEngine("other.db");
    await happen(other, "x");
    expect(faultsOf(await check(other))).toContain("line 1: it is a receipt of another ledger");
  });
});

/** Cut off from the ledger when the place of the target is written for this time. */
async function dieAtNote(engine: Engine, times: number): Promise<void> {
  const { engine: killed, watched } = killableEngine(engine.ledger, clock, { secret: SECRET });
  let puts = 0;
  watched.intercept("items.put", (pass, [item]) => {
    const { kind } = item as { readonly kind: string };
    if (kind === "receipt-target" && ++puts === times) throw new Error("killed");
    return pass();
  });
  await expect(publish(killed)).rejects.toThrow("killed");
}

describe("a process that dies", () => {
  test.each([
    ["before the receipt is stored", 1, 3],
    ["after the receipt was published, before that is noted", 2, 4],
  ])("%s: the next run loses and doubles nothing", async (_, times, left) => {
    const engine = await published();
    await happen(engine, "d");
    await dieAtNote(engine, times);
    expect(lines()).toHaveLength(left);
    expect(faultsOf(await check(engine))).toBe("");
    await publish(engine);
    expect(receipts().map(({ number }) => number)).toEqual(left === 3 ? [1, 2, 3, 4] : [1, 2, 3, 4, 5]);
    expect(faultsOf(await check(engine))).toBe("");
  });

  test.each([1, 40, 100_000])(
    "while it writes, %d bytes before the end: the line is completed",
    async (bytes) => {
      const engine = await published();
      await happen(engine, "d");
      await dieAtNote(engine, 2);
      const whole = readFileSync(join(root, FILE), "utf8");
      const least = whole.trimEnd().lastIndexOf("\n") + 1;
      truncateSync(join(root, FILE), Math.max(whole.length - bytes, least));
      await publish(engine);
      expect(readFileSync(join(root, FILE), "utf8").startsWith(whole)).toBe(true);
      expect(faultsOf(await check(engine))).toBe("");
    },
  );

  test("and left something else at the end of the file: it is reported, and the receipt is there", async () => {
    const engine = await published();
    writeFileSync(join(root, FILE), `${lines().join("\n")}\nhello`);
    await publish(engine);
    expect(faultsOf(await check(engine))).toBe("receipts.jsonl line 4: it is not a receipt");
  });
});

describe("processes at the same time", () => {
  test("make one series", async () => {
    const [one, two] = [await openEngine(), await openEngine()];
    await happen(one, "a");
    const runs = await Promise.all([publish(one), publish(two)]);
    expect(runs.map(({ ended }) => ended).sort()).toEqual(["done", "elsewhere"]);
    expect(faultsOf(await check(one))).toBe("");
    expect(lines()).toHaveLength(1);
  });

  test("of which one was suspended while it published: what it does later harms nothing", async () => {
    const [one, two] = [await openEngine(), await openEngine()];
    await happen(one, "a");
    const [target] = await fileTarget(one);
    const { promise: woken, resolve: wake } = Promise.withResolvers<void>();
    const asleep = Promise.withResolvers<void>();
    const suspended = publishReceipts(partsOf(one), {
      targets: [
        {
          name: "worm",
          keep: async (receipt, signal) => {
            asleep.resolve();
            await woken;
            return target?.keep(receipt, signal) ?? { ok: false, reason: "none" };
          },
        },
      ],
    });
    await asleep.promise;
    expect(await publish(two)).toMatchObject({ ended: "elsewhere" });
    await clock.advance(60_001);
    expect(await publish(two)).toMatchObject({ published: 2, ended: "done" });
    wake();
    await suspended;
    expect(receipts().map(({ number }) => number)).toEqual([1, 2]);
    await publish(two);
    expect(faultsOf(await check(two))).toBe("");
    expect(lines()).toHaveLength(3);
  });
});

test("lines that were removed from the file are told to whoever publishes next", async () => {
  const engine = await published();
  writeFileSync(join(root, FILE), `${lines()[0] ?? ""}\n`);
  const warnings: string[] = [];
  await publishReceipts(partsOf(engine), {
    targets: await fileTarget(engine),
    onWarning: (_target, warning) => warnings.push(warning),
  });
  expect(warnings).toEqual([expect.stringContaining("does not end with receipt 3") as string]);
  expect(faultsOf(await check(engine))).toContain("receipts 2 to 3 before it are missing");
});

test("a receipt that somebody changed in the ledger before it was sent is not sent", async () => {
  const engine = await published();
  const refuse = { name: "worm", keep: async () => ({ ok: false, reason: "not now" }) as const };
  expect(await publishReceipts(partsOf(engine), { targets: [refuse] })).toMatchObject({ failed: 1 });
  tamper(
    "update items set value = replace(value, '\"commits\":3', '\"commits\":9') where kind = 'receipt-target'",
  );
  await publish(engine);
  expect(receipts().map(({ number, commits }) => [number, commits])).toEqual([
    [1, 1],
    [2, 2],
    [3, 3],
    [4, 3],
  ]);
  expect(faultsOf(await check(engine))).toBe("");
});
