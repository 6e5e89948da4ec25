import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type ArchiveRun,
  type ArchiveVerification,
  besideLedger,
  Engine,
  type Ledger,
  ManualClock,
  partsOf,
  runArchive,
  runRetention,
  toPrincipal,
  verifyArchives,
} from "../engine/index.ts";
import { killableEngine } from "../engine/testing/execution.ts";
import { tryApprove } from "../engine/testing/try-decide.ts";
import { createLedger } from "../stores/index.ts";
import { archiveFileLines, archiveFolder } from "./archive-folder.ts";

const SECRET = "a secret that only the processes know";
const UNKEYED = "none";
const DAY_MS = 86_400_000;
const ana = { id: "ana" };
const decider = { by: toPrincipal({ id: "ops" }), via: "cli" };

let root: string;
let clock: ManualClock;
const opened: Ledger[] = [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "countersign-"));
  clock = new ManualClock();
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((ledger) => ledger.close()));
  rmSync(root, { recursive: true });
});

async function openEngine(
  url = "memory:",
  { secret = SECRET }: { readonly secret?: string } = {},
): Promise<Engine> {
  const ledger = await createLedger(url, { clock });
  opened.push(ledger);
  return new Engine({ ledger, clock, ...(secret === UNKEYED ? {} : { secret }) });
}

/** A ledger that a test opens with a shell, too. */
function file(): string {
  return `sqlite:${join(root, "ledger.db")}`;
}

function tamper(sql: string): void {
  const shell = new DatabaseSync(join(root, "ledger.db"));
  shell.exec(sql);
  shell.close();
}

/** Sessions that were approved, denied, deleted or erased by age, and one that still waits; all of two days ago. */
async function play(engine: Engine): Promise<void> {
  const pay = engine.gate("pay", { requireConfirmation: true }, async () => "paid");
  for (const key of ["approved", "denied", "deleted", "open"]) {
    const outcome = await pay({ key }, { key, by: ana });
    const id = outcome.status === "pending" ? outcome.confirmation.id : "";
    if (key === "approved") {
      const receipt = await tryApprove(engine, id, { by: { id: "boss" } });
      if (receipt.ok) await receipt.finished;
    }
    if (key === "denied") await engine.deny(id, { by: { id: "boss" }, reason: "no" });
    if (key === "deleted") await engine.deleteSession({ app: "gate:pay", user: "gate", id: key }, ana);
    await engine.head();
  }
  await clock.advance(2 * DAY_MS);
}

const FOLDER = "archive";

function archive(engine: Engine, batch = 1, folder = FOLDER): Promise<ArchiveRun> {
  return runArchive(partsOf(engine), {
    folder: archiveFolder(join(root, folder)),
    olderThanMs: DAY_MS,
    decider,
    batch,
    pauseMs: 0,
  });
}

function files(folder = FOLDER): readonly string[] {
  return readdirSync(join(root, folder))
    .sort()
    .map((name) => join(root, folder, name));
}

async function check(
  paths: readonly string[],
  { secret = SECRET, ledger }: { readonly secret?: string | undefined; readonly ledger?: Ledger } = {},
): Promise<ArchiveVerification> {
  const given = paths.map((path) => ({ name: path.slice(-15), lines: archiveFileLines(path) }));
  const beside = ledger === undefined ? {} : { beside: await besideLedger(ledger) };
  return verifyArchives(given, { ...(secret === UNKEYED ? {} : { secret }), ...beside });
}

function faultsOf({ ok, faults }: ArchiveVerification): string {
  expect(ok).toBe(faults.length === 0);
  return faults.map(({ where, what }) => `${where}: ${what}`).join("\n");
}

describe("audit archive", () => {
  test("writes each finished session once, with checkpoints; the files verify without and with the ledger", async () => {
    const engine = await openEngine();
    await play(engine);
    expect(await archive(engine, 2)).toEqual({ files: 2, sessions: 3, unsound: 0, ended: "done" });
    expect(files()).toHaveLength(2);
    expect(await archive(engine, 2)).toEqual({ files: 0, sessions: 0, unsound: 0, ended: "done" });
    expect(files()).toHaveLength(2);
    expect(await check(files())).toMatchObject({
      ok: true,
      files: 2,
      sessions: 3,
      checkpoints: 4,
      faults: [],
    });
    expect(faultsOf(await check(files().toReversed(), { ledger: engine.ledger }))).toBe("");
    expect((await engine.verify()).ok).toBe(true);
  });

  test("says who decided, also where the content was erased before", async () => {
    const engine = await openEngine();
    await play(engine);
    await engine.prune(DAY_MS);
    await clock.advance(2 * DAY_MS);
    await archive(engine, 10);
    const [path = ""] = files();
    const text = gunzipSync(readFileSync(path)).toString();
    expect(text).toContain('"boss"');
    expect(text).toContain('"mac"');
    expect(text).not.toContain("paid");
    expect(faultsOf(await check(files()))).toBe("");
  });

  test("archives a session again that went on since", async () => {
    const engine = await openEngine();
    await engine.createSession({ app: "a", user: "ana", id: "s" }, { note: "1" });
    await clock.advance(2 * DAY_MS);
    expect(await archive(engine)).toMatchObject({ files: 1, sessions: 1 });
    await engine.prune(DAY_MS);
    expect(await archive(engine)).toMatchObject({ files: 0 });
    await clock.advance(2 * DAY_MS);
    expect(await archive(engine)).toMatchObject({ files: 1, sessions: 1 });
    expect(faultsOf(await check(files(), { ledger: engine.ledger }))).toBe("");
  });

  test("of a ledger that is archived only what is archived is pruned; files and ledger still agree", async () => {
    const engine = await openEngine();
    await play(engine);
    const rules = {
      version: "v1",
      shortestContentMs: DAY_MS,
      contentMs: () => DAY_MS,
      journal: { shortestMs: 10 * DAY_MS, keepMs: () => 10 * DAY_MS },
    };
    const prune = () => runRetention(partsOf(engine), { rules, decider, pauseMs: 0 });
    await archive(engine, 1);
    await prune();
    await engine.head();
    await clock.advance(11 * DAY_MS);
    // Their erasure is not in an archive yet.
    expect((await prune()).journal).toMatchObject({ sessions: 1, unarchived: 2 });
    expect(faultsOf(await check(files(), { ledger: engine.ledger }))).toBe("");
    await archive(engine, 1);
    expect((await prune()).journal).toMatchObject({ sessions: 2, unarchived: 0 });
    await engine.head();
    expect(await archive(engine, 1)).toMatchObject({ files: 0, unsound: 0 });
    expect((await engine.verify()).pruned).toMatchObject({ sessions: 3 });
    expect(faultsOf(await check(files()))).toBe("");
    expect(faultsOf(await check(files(), { ledger: engine.ledger }))).toBe("");
    const last = files().at(-1) ?? "";
    rmSync(last);
    expect(faultsOf(await check(files(), { ledger: engine.ledger }))).toContain("is not among these files");
  });

  test("a session that is said to be archived, and is not, is found when it was pruned", async () => {
    const engine = await openEngine();
    await play(engine);
    await archive(engine, 1);
    const rules = {
      version: "v1",
      shortestContentMs: DAY_MS,
      contentMs: () => DAY_MS,
      journal: { shortestMs: 10 * DAY_MS, keepMs: () => 10 * DAY_MS },
    };
    await runRetention(partsOf(engine), { rules, decider, pauseMs: 0 });
    await engine.head();
    await clock.advance(11 * DAY_MS);
    const { items } = await engine.ledger.sessions({ idleSince: clock.now(), deleted: true }, { limit: 10 });
    for (const { key, chain } of items) {
      const { version = 0 } = (await engine.ledger.items.get("archived", key)) ?? {};
      await engine.ledger.items.put({ kind: "archived", id: key, value: { n: chain.n, file: 1 } }, version);
    }
    await runRetention(partsOf(engine), { rules, decider, pauseMs: 0 });
    await engine.head();
    expect(faultsOf(await check(files(), { ledger: engine.ledger }))).toContain(
      "they are missing or different",
    );
  });

  test("is done by one process at a time", async () => {
    const engine = await openEngine();
    await play(engine);
    const runs = await Promise.all([archive(engine), archive(engine)]);
    expect(runs.map(({ ended }) => ended).sort()).toEqual(["done", "elsewhere"]);
    expect(faultsOf(await check(files(), { ledger: engine.ledger }))).toBe("");
  });

  test("does not seal what somebody changed in the ledger", async () => {
    const engine = await openEngine(file());
    await play(engine);
    tamper("update log set body = replace(body, 'boss', 'evil') where kinds like '%confirmation-approved%'");
    const unsound: string[] = [];
    const run = await runArchive(partsOf(engine), {
      folder: archiveFolder(join(root, FOLDER)),
      olderThanMs: DAY_MS,
      decider,
      pauseMs: 0,
      onUnsound: (_session, fault) => unsound.push(fault),
    });
    expect(run).toMatchObject({ sessions: 2, unsound: 1 });
    expect(unsound[0]).toContain("its body was changed");
  });

  test("refuses a folder without the last file, and a file that is not the next one", async () => {
    const engine = await openEngine();
    await play(engine);
    await archive(engine, 2);
    await expect(archive(engine, 2, "other")).rejects.toThrow(/is missing, or is a different file/);
    const [, second = ""] = files();
    writeFileSync(second.replace("000002", "000003"), readFileSync(second));
    await expect(archive(engine, 2)).rejects.toThrow(/000003.* is not the next archive file/);
  });
});

async function* oneLine(): AsyncGenerator<string> {
  yield "one";
}

describe("a process that dies", () => {
  test.each([
    ["after the file has its name, before the ledger knows", "commit"],
    ["while it writes a file", "journal.remains"],
  ] as const)("%s: the next run loses and doubles nothing", async (_, method) => {
    const engine = await openEngine();
    await play(engine);
    const { engine: killed, watched } = killableEngine(engine.ledger, clock, { secret: SECRET });
    watched.intercept(method, () => Promise.reject(new Error("killed")));
    await expect(archive(killed)).rejects.toThrow("killed");
    expect(files()).toHaveLength(method === "commit" ? 1 : 0);
    expect(await archive(engine)).toMatchObject({ files: 3, sessions: 3, ended: "done" });
    expect(files()).toHaveLength(3);
    expect(await check(files(), { ledger: engine.ledger })).toMatchObject({ ok: true, sessions: 3 });
  });

  test("inside a file leaves nothing that is taken for a file, and it is removed later", async () => {
    const folder = archiveFolder(join(root, FOLDER));
    const id = { ledger: "x", file: 1 };
    expect(await folder.write(id, oneLine())).toBe(true);
    const [path = ""] = files();
    renameSync(path, `${path}.aaaa.part`);
    expect(await folder.read(id)).toBeUndefined();
    expect(await folder.write(id, oneLine())).toBe(true);
    expect(files()).toEqual([path]);
    expect(await folder.write(id, oneLine())).toBe(false);
  });
});

type Change = (lines: string[]) => readonly string[];

/** Replaces lines of a file, as somebody with an editor does. */
function rewrite(path: string, change: Change): void {
  const lines = gunzipSync(readFileSync(path)).toString().trimEnd().split("\n");
  writeFileSync(path, gzipSync(`${change(lines).join("\n")}\n`));
}

function edited(from: string, to: string): Change {
  return (lines) => lines.map((line) => line.replaceAll(from, to));
}

interface Attack {
  readonly name: string;
  readonly act: (paths: string[]) => void;
  readonly found: string;
}

const ATTACKS: readonly Attack[] = [
  {
    name: "a line altered: who decided",
    act: (paths) => paths.forEach((path) => rewrite(path, edited("boss", "evil"))),
    found: "its body was changed",
  },
  {
    name: "a line altered: the name of a session",
    act: ([, path = ""]) => rewrite(path, edited('"user":"gate"', '"user":"eve"')),
    found: "its lines do not match the digest at its end",
  },
  {
    name: "a line removed",
    act: ([, path = ""]) => rewrite(path, (lines) => lines.toSpliced(-3, 1)),
    found: "its lines do not match",
  },
  {
    name: "two lines that changed places",
    act: ([, path = ""]) =>
      rewrite(path, (lines) => [...lines.slice(0, -3), lines.at(-2), lines.at(-3), lines.at(-1)] as string[]),
    found: "its lines do not match",
  },
  {
    name: "a whole session removed",
    act: ([, path = ""]) =>
      rewrite(path, (lines) =>
        lines.filter((line) => !line.startsWith('{"row"') && !line.startsWith('{"session"')),
      ),
    found: "its lines do not match",
  },
  {
    name: "a line twice",
    act: ([, path = ""]) => rewrite(path, (lines) => lines.toSpliced(-2, 0, lines.at(-2) ?? "")),
    found: "its lines do not match",
  },
  {
    name: "a checkpoint altered",
    act: ([path = ""]) => rewrite(path, edited('"lastSeq":', '"lastSeq":1')),
    found: "checkpoint 1: its hash does not match",
  },
  {
    name: "a line that is no JSON",
    act: ([, path = ""]) => rewrite(path, (lines) => lines.with(2, "{")),
    found: "line 3 is not a line of an archive",
  },
  {
    name: "a line behind the end",
    act: ([, path = ""]) => rewrite(path, (lines) => [...lines, lines[1] ?? ""]),
    found: "comes after the end",
  },
  {
    name: "lines cut off",
    act: ([, path = ""]) => rewrite(path, (lines) => lines.slice(0, -1)),
    found: "its end is missing: it was cut off",
  },
  {
    name: "bytes cut off",
    act: ([, path = ""]) => writeFileSync(path, readFileSync(path).subarray(0, -20)),
    found: "it cannot be read to its end",
  },
  { name: "an empty file", act: ([, path = ""]) => writeFileSync(path, gzipSync("")), found: "it is empty" },
  {
    name: "a file that is none of ours",
    act: ([, path = ""]) => writeFileSync(path, gzipSync('{"hello":1}\n')),
    found: "line 1 is not a line of an archive",
  },
  {
    name: "a file that is only an end",
    act: ([, path = ""]) =>
      writeFileSync(path, gzipSync('{"end":{"sessions":0,"rows":0,"digest":"","seal":""}}\n')),
    found: "it does not begin like an archive",
  },
  { name: "the first file missing", act: (paths) => paths.shift(), found: "file 1 is missing" },
  { name: "a file missing", act: (paths) => paths.splice(1, 1), found: "file 2 is missing" },
  { name: "a file twice", act: (paths) => paths.push(paths[1] ?? ""), found: "the same number (2)" },
  {
    name: "two files that changed names",
    act: ([one = "", two = ""]) => {
      renameSync(one, `${one}.x`);
      renameSync(two, one);
      renameSync(`${one}.x`, two);
    },
    found: "",
  },
  {
    name: "a file in the place of another",
    act: ([one = "", two = ""]) => writeFileSync(two, readFileSync(one)),
    found: "the same number (1)",
  },
  {
    name: "a seal made without the secret",
    act: ([, path = ""]) =>
      rewrite(path, (lines) => lines.map((line) => line.replace(/"seal":"..../, '"seal":"AAAA'))),
    found: "its seal does not match",
  },
];

/** One archive for all attacks, each of which gets a copy. */
let made: string | undefined;
async function shared(): Promise<string> {
  if (made !== undefined) return made;
  const engine = await openEngine();
  await play(engine);
  await archive(engine, 1, "shared");
  made = mkdtempSync(join(tmpdir(), "countersign-"));
  cpSync(join(root, "shared"), made, { recursive: true });
  return made;
}

afterAll(() => {
  if (made !== undefined) rmSync(made, { recursive: true });
});

describe("audit verify of archive files finds", () => {
  test("bytes behind the end, and does not call the file empty", async () => {
    cpSync(await shared(), join(root, FOLDER), { recursive: true });
    const paths = files();
    const path = paths.at(-1) ?? "";
    writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.from("more")]));
    const faults = faultsOf(await check([...paths]));
    expect(faults).toContain("it cannot be read to its end");
    expect(faults).not.toContain("it is empty");
  });

  test.each(ATTACKS)("$name", async ({ act, found }) => {
    cpSync(await shared(), join(root, FOLDER), { recursive: true });
    const paths = [...files()];
    act(paths);
    const faults = faultsOf(await check(paths));
    if (found === "") expect(faults).toBe("");
    else expect(faults).toContain(found);
  });

  test("an archive made anew by somebody without the secret, with all hashes that they can make", async () => {
    const forged = await openEngine("memory:", { secret: UNKEYED });
    await play(forged);
    await archive(forged, 1, "forged");
    expect(faultsOf(await check(files("forged")))).toContain("it says that it was made without a secret");
    expect(faultsOf(await check(files("forged")))).toContain("its seal does not match");
    for (const path of files("forged")) rewrite(path, edited('"keyed":false', '"keyed":true'));
    expect(faultsOf(await check(files("forged")))).toContain("its seal does not match");
    const guessed = await openEngine("memory:", { secret: "another secret" });
    await play(guessed);
    await archive(guessed, 1, "guessed");
    expect(faultsOf(await check(files("guessed")))).toContain("its hash does not match the commit before it");
  });

  test("nothing without a secret in what is made anew, and says so", async () => {
    const forged = await openEngine("memory:", { secret: UNKEYED });
    await play(forged);
    await archive(forged, 1, "forged");
    const checked = await check(files("forged"), { secret: UNKEYED });
    expect(checked.ok).toBe(true);
    expect(checked.cannotDetect.join()).toContain("Forged files. Without COUNTERSIGN_SECRET");
    const keyed = await openEngine();
    await play(keyed);
    await archive(keyed);
    expect(faultsOf(await check(files(), { secret: UNKEYED }))).toContain("set COUNTERSIGN_SECRET");
  });

  test("files of two ledgers, and with the ledger those of another", async () => {
    const [one, two] = [await openEngine(), await openEngine()];
    await play(one);
    await play(two);
    await archive(one, 10);
    await archive(two, 10, "two");
    expect(faultsOf(await check([...files(), ...files("two")]))).toContain("it belongs to the ledger");
    expect(faultsOf(await check(files("two"), { ledger: one.ledger }))).toMatch(
      /archive of another ledger[\s\S]*file 1: the ledger has a record of it/,
    );
  });

  test("with the ledger: newest files missing, and a ledger that was cut back", async () => {
    const engine = await openEngine(file());
    await play(engine);
    await archive(engine);
    const [one = "", two = "", three = ""] = files();
    expect(faultsOf(await check([one, two]))).toBe("");
    expect((await check([one, two])).cannotDetect.join()).toContain("Missing newest files");
    expect(faultsOf(await check([one, two], { ledger: engine.ledger }))).toBe(
      "file 3: the ledger has a record of it, but it is not among these files",
    );
    tamper(
      "delete from log where kinds like '%confirmation-denied%'; delete from log where kinds like '%journal-archived%'",
    );
    const faults = faultsOf(await check([one, two, three], { ledger: engine.ledger }));
    expect(faults).toMatch(/commit \d in the ledger is missing or different/);
    expect(faults).toContain("the ledger has no record of it");
  });
});
