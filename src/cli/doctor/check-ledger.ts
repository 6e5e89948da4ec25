import { accessSync, constants } from "node:fs";
import { dirname, resolve } from "node:path";
import { type Engine, openNotices, systemClock } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { inspectLedger, type LedgerState, listRisks } from "../../stores/index.ts";
import { absoluteTime, shortDuration } from "../duration.ts";
import { fileOf, isKept, openEngine, shellWord } from "../wiring.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const MOST_SKEW_MS = 5_000;

/** The ledger: is it there, can it be written, is its schema ours, is the file whole, do the clocks agree? */
export async function checkLedger(url: string): Promise<readonly Finding[]> {
  let state: LedgerState;
  try {
    state = await inspectLedger(url, { check: true });
  } catch (error) {
    return [fail("ledger", messageOf(error), "Name another with --db or COUNTERSIGN_DB.")];
  }
  const file = fileOf(url);
  const writable = file === undefined ? [] : [checkWritable(file, state.exists)];
  if (!state.exists) return [...writable, absent(url, file)];
  const whole = file === undefined ? [] : [checkDamage(state.damage ?? [])];
  const findings = [...writable, ...checkPrivate(state), checkSchema(state, file), ...whole];
  // Opening it would migrate it, and only looks are taken here.
  if (state.version !== state.newest || findings.some(({ status }) => status === "fail")) return findings;
  return [...findings, ...(await checkRisks(url)), ...(await checkInside(url))];
}

/** A server's settings and standbys; a file has none. */
async function checkRisks(url: string): Promise<readonly Finding[]> {
  if (fileOf(url) !== undefined || !isKept(url)) return [];
  const risks = await listRisks(url);
  if (risks.length === 0) return [ok("durability", "commits are synced, and no standby may lack them")];
  return risks.map(({ about, message, advice }) => warn(about, message, advice));
}

function absent(url: string, file: string | undefined): Finding {
  const advice = "`countersign serve`, `demo` and `migrate` make it.";
  if (file !== undefined) return warn("ledger", `There is none at ${file} yet.`, advice);
  if (isKept(url))
    return warn("ledger", "There is none in this database yet.", "Make it with `countersign migrate`.");
  return warn("ledger", "It is in memory and ends with its process.", "Name a file with --db sqlite:FILE.");
}

function checkWritable(file: string, exists: boolean): Finding {
  // SQLite keeps two more files beside it.
  const folder = dirname(resolve(file));
  try {
    accessSync(folder, constants.W_OK);
    if (exists) accessSync(file, constants.W_OK);
    return ok("write", `${file} can be written`);
  } catch {
    return fail(
      "write",
      `${file} or its folder cannot be written by this user.`,
      `Give this user the right to write to ${folder}.`,
    );
  }
}

/** Whoever can read the file reads every argument; whoever can write it can approve. */
function checkPrivate({ exposed }: LedgerState): readonly Finding[] {
  if (exposed === undefined) return [];
  if (exposed.length === 0) return [ok("private", "its files are this user's alone")];
  const files = exposed.map(({ file, mode }) => `${file} (mode ${mode})`).join(", ");
  const advice = `chmod 600 ${exposed.map(({ file }) => shellWord(file)).join(" ")}`;
  return [
    warn(
      "private",
      `Others may read or write ${files}.`,
      `Run \`${advice}\`; a process of the files' own user that opens the ledger does it too.`,
    ),
  ];
}

function checkSchema({ version, newest, isSameBuild }: LedgerState, file: string | undefined): Finding {
  if (!isSameBuild) {
    return fail(
      "schema",
      `It has version ${Math.min(version, newest)} of another build of Countersign, in which that number means other tables.`,
      "Use the build that made it, or begin a new ledger with this one: `countersign migrate` cannot convert it.",
    );
  }
  if (version === newest) return ok("schema", `version ${version}, the newest`);
  if (version < newest) {
    return warn(
      "schema",
      `It has version ${version}, and ${newest} is the newest.`,
      file === undefined
        ? "Run `countersign migrate`; until then `serve` refuses it."
        : "Run `countersign migrate`; the first process that opens it does it too.",
    );
  }
  return fail(
    "schema",
    `It has version ${version}, and this Countersign knows ${newest}.`,
    "Upgrade Countersign.",
  );
}

function checkDamage(damage: readonly string[]): Finding {
  const [first] = damage;
  if (first === undefined) return ok("file", "whole, by SQLite's quick check");
  return fail(
    "file",
    `It is damaged: ${first}`,
    "Restore a backup, or recover it with `sqlite3 FILE .recover`.",
  );
}

/** What can only be asked of an open ledger. */
async function checkInside(url: string): Promise<readonly Finding[]> {
  let engine: Engine;
  try {
    engine = await openEngine(url);
  } catch (error) {
    return [fail("ledger", messageOf(error), "Name another with --db or COUNTERSIGN_DB.")];
  }
  try {
    return [
      await checkClock(engine),
      ...(await checkSecretFits(engine)),
      await checkUnknown(engine),
      await checkDeliveries(engine),
      ...(await checkNotices(engine)),
    ];
  } finally {
    await engine.close();
  }
}

async function checkClock({ ledger }: Engine): Promise<Finding> {
  const now = systemClock.now();
  const { now: theirs } = await ledger.due([], 1);
  const newest = (await ledger.lastCheckpoint())?.at ?? 0;
  const skew = Math.max(Math.abs(theirs - now), newest - now);
  if (skew <= MOST_SKEW_MS) return ok("clock", "agrees with the ledger");
  const what = newest > now ? "The newest record is from the future" : "The ledger's clock differs";
  return warn(
    "clock",
    `${what}, by ${shortDuration(skew)}.`,
    "Set the machines' clocks by NTP: deadlines and leases go by them.",
  );
}

async function checkSecretFits(engine: Engine): Promise<readonly Finding[]> {
  // One that nobody has written to takes any secret, and to ask would bind it to this one.
  const written = await engine.ledger.journal({ after: 0, limit: 1 });
  if (written.length === 0) return [];
  try {
    await engine.ready();
    return [];
  } catch (error) {
    return [fail("ledger", messageOf(error), "Set COUNTERSIGN_SECRET to what the others have.")];
  }
}

async function checkUnknown({ ledger }: Engine): Promise<Finding> {
  const { items, next } = await ledger.unknownCalls({ limit: 100 });
  if (items.length === 0) return ok("unknown", "no call waits to be settled");
  const count = next === undefined ? String(items.length) : `${items.length}+`;
  return warn(
    "unknown",
    `${count} of the calls that started have no known end.`,
    "`countersign pending` lists them, `countersign settle` settles them.",
  );
}

async function checkDeliveries({ ledger }: Engine): Promise<Finding> {
  const { items, next } = await ledger.deadDeliveries({ limit: 100 });
  if (items.length === 0) return ok("deliveries", "no message was given up");
  const count = next === undefined ? String(items.length) : `${items.length}+`;
  return warn(
    "deliveries",
    `${count} of the messages to channels were given up.`,
    "`countersign deliveries` says why, `countersign deliveries retry` sends them again.",
  );
}

async function checkNotices({ ledger }: Engine): Promise<readonly Finding[]> {
  const notices = await openNotices(ledger);
  if (notices.length === 0) return [ok("notices", "the ledger was not noticed to have lost anything")];
  const advice =
    "`countersign notices list` says what to look at, `countersign notices acknowledge` hides it then.";
  return notices.map(({ at, message }) =>
    warn("notices", `${absoluteTime(Date.parse(at))}: ${message}`, advice),
  );
}

function messageOf(error: unknown): string {
  return CountersignError.isInstance(error) ? error.message : String(error);
}
