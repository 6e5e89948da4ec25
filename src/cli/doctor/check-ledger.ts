import { accessSync, constants } from "node:fs";
import { dirname, resolve } from "node:path";
import { listSetAside } from "../../channels/siem/index.ts";
import { type Engine, openNotices, systemClock } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { inspectLedger, type LedgerState, listRisks } from "../../stores/index.ts";
import { absoluteTime, shortDuration } from "../duration.ts";
import { listPolicyProblems } from "../policy/policy-problems.ts";
import { fileOf, isPersistent, openEngine, shellWord } from "../wiring.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const MOST_SKEW_MS = 5_000;

/** The ledger: is it there, can it be written, is its schema ours, is the file whole, do the clocks agree? */
export async function checkLedger(url: string, listenUrl?: string): Promise<readonly Finding[]> {
  let state: LedgerState;
  try {
    state = await inspectLedger(url, { check: true });
  } catch (error) {
    return [fail("ledger", messageOf(error), "Choose another ledger with --db or COUNTERSIGN_DB.")];
  }
  const file = fileOf(url);
  const writable = file === undefined ? [] : [checkWritable(file, state.exists)];
  if (!state.exists) return [...writable, absent(url, file)];
  const whole = file === undefined ? [] : [checkDamage(state.damage ?? [])];
  const findings = [...writable, ...checkPrivate(state), checkSchema(state, file), ...whole];
  // Opening it would migrate it, but doctor only reads.
  if (state.version !== state.newest || findings.some(({ status }) => status === "fail")) return findings;
  return [...findings, ...(await checkRisks(url, listenUrl)), ...(await checkInside(url))];
}

/** A server's settings and standbys; a file has none. */
async function checkRisks(url: string, listenUrl: string | undefined): Promise<readonly Finding[]> {
  if (fileOf(url) !== undefined || !isPersistent(url)) return [];
  const risks = await listRisks(url, listenUrl);
  if (risks.length === 0) return [ok("durability", "commits are synced to disk and to standbys")];
  return risks.map(({ about, message, advice }) => warn(about, message, advice));
}

function absent(url: string, file: string | undefined): Finding {
  const advice = "`countersign serve`, `demo` and `migrate` create it.";
  if (file !== undefined) return warn("ledger", `${file} does not exist yet.`, advice);
  if (isPersistent(url))
    return warn("ledger", "There is no ledger at this URL yet.", "Create it with `countersign migrate`.");
  return warn(
    "ledger",
    "The ledger is in memory and is lost when the process ends.",
    "Use a file with --db sqlite:FILE.",
  );
}

function checkWritable(file: string, exists: boolean): Finding {
  // SQLite keeps two more files beside it.
  const folder = dirname(resolve(file));
  try {
    accessSync(folder, constants.W_OK);
    if (exists) accessSync(file, constants.W_OK);
    return ok("write", `${file} is writable`);
  } catch {
    return fail(
      "write",
      `This user cannot write to ${file} or its folder.`,
      `Give this user write permission for ${folder}.`,
    );
  }
}

/** Everyone who can read the file can read every argument; everyone who can write it can approve. */
function checkPrivate({ exposed }: LedgerState): readonly Finding[] {
  if (exposed === undefined) return [];
  if (exposed.length === 0) return [ok("private", "only this user can read the ledger files")];
  const files = exposed.map(({ file, mode }) => `${file} (mode ${mode})`).join(", ");
  const advice = `chmod 600 ${exposed.map(({ file }) => shellWord(file)).join(" ")}`;
  return [
    warn(
      "private",
      `Other users can read or write ${files}.`,
      `Run \`${advice}\`. Opening the ledger as the files' owner fixes it too.`,
    ),
  ];
}

function checkSchema({ version, newest, isSameBuild }: LedgerState, file: string | undefined): Finding {
  if (!isSameBuild) {
    return fail(
      "schema",
      `Schema version ${Math.min(version, newest)} was created by a different build of Countersign, with different tables.`,
      "Use the build that created it, or create a new ledger. `countersign migrate` cannot convert it.",
    );
  }
  if (version === newest) return ok("schema", `version ${version} (newest)`);
  if (version < newest) {
    return warn(
      "schema",
      `Schema version ${version} is outdated; the newest is ${newest}.`,
      file === undefined
        ? "Run `countersign migrate`. Until then `serve` does not start."
        : "Run `countersign migrate`, or start any process that opens the ledger.",
    );
  }
  return fail(
    "schema",
    `Schema version ${version} is newer than this Countersign, which supports ${newest}.`,
    "Upgrade Countersign.",
  );
}

function checkDamage(damage: readonly string[]): Finding {
  const [first] = damage;
  if (first === undefined) return ok("file", "intact (SQLite quick check)");
  return fail("file", `The file is damaged: ${first}`, "Restore a backup, or try `sqlite3 FILE .recover`.");
}

/** Checks that need an open ledger. */
async function checkInside(url: string): Promise<readonly Finding[]> {
  let engine: Engine;
  try {
    engine = await openEngine(url);
  } catch (error) {
    return [fail("ledger", messageOf(error), "Choose another ledger with --db or COUNTERSIGN_DB.")];
  }
  try {
    return [
      await checkClock(engine),
      ...(await checkSecretFits(engine)),
      await checkUnknown(engine),
      await checkDeliveries(engine),
      ...(await checkSetAside(engine)),
      ...(await checkNotices(engine)),
      ...(await checkPolicies(engine)),
    ];
  } finally {
    await engine.close();
  }
}

async function checkPolicies({ ledger }: Engine): Promise<readonly Finding[]> {
  const problems = await listPolicyProblems(ledger);
  return problems.map(({ host, pid, file, message, at }) =>
    warn(
      "policy",
      `Since ${at}, process ${pid} on ${host} uses an older policy, because ${file} cannot be used: ${message}`,
      "Fix the file. It is reloaded automatically.",
    ),
  );
}

async function checkClock({ ledger }: Engine): Promise<Finding> {
  const now = systemClock.now();
  const { now: theirs } = await ledger.due([], 1);
  const newest = (await ledger.journal.lastCheckpoint())?.at ?? 0;
  const skew = Math.max(Math.abs(theirs - now), newest - now);
  if (skew <= MOST_SKEW_MS) return ok("clock", "matches the ledger");
  const what = newest > now ? "The newest record is from the future" : "The ledger's clock differs";
  return warn(
    "clock",
    `${what}, by ${shortDuration(skew)}.`,
    "Synchronize the clocks with NTP. Deadlines and leases depend on them.",
  );
}

async function checkSecretFits(engine: Engine): Promise<readonly Finding[]> {
  // A new ledger accepts any secret, and checking would bind it to this one.
  const written = await engine.ledger.journal.records({ after: 0, limit: 1 });
  if (written.length === 0) return [];
  try {
    await engine.ready();
    return [];
  } catch (error) {
    return [
      fail("ledger", messageOf(error), "Set COUNTERSIGN_SECRET to the value that the other processes use."),
    ];
  }
}

async function checkUnknown({ ledger }: Engine): Promise<Finding> {
  const { items, next } = await ledger.unknownCalls({ limit: 100 });
  if (items.length === 0) return ok("unknown", "no unknown calls");
  const count = next === undefined ? String(items.length) : `${items.length}+`;
  return warn(
    "unknown",
    `${count} calls have an unknown outcome.`,
    "List them with `countersign pending`, and settle them with `countersign settle`.",
  );
}

async function checkDeliveries({ ledger }: Engine): Promise<Finding> {
  const { items, next } = await ledger.outbox.deadDeliveries({ limit: 100 });
  if (items.length === 0) return ok("deliveries", "no undelivered messages");
  const count = next === undefined ? String(items.length) : `${items.length}+`;
  return warn(
    "deliveries",
    `${count} messages to channels could not be delivered.`,
    "`countersign deliveries` shows why. `countersign deliveries retry` sends them again.",
  );
}

const MOST_NAMED = 20;

async function checkSetAside({ ledger }: Engine): Promise<readonly Finding[]> {
  const all = await listSetAside(ledger.items);
  return all.map(({ name, count, newest }) => {
    const last = newest.at(-1);
    const which = newest
      .slice(-MOST_NAMED)
      .map(({ seq }) => seq)
      .join(", ");
    return warn(
      name,
      `${count} records of the journal were refused by the export's address and are missing there: ${which}. ${last?.reason ?? ""}`.trim(),
      "`countersign siem list` shows why. `countersign siem retry` sends them again, `countersign siem drop` forgets them.",
    );
  });
}

async function checkNotices({ ledger }: Engine): Promise<readonly Finding[]> {
  const notices = await openNotices(ledger.items);
  if (notices.length === 0) return [ok("notices", "no lost commits were reported")];
  const advice =
    "List them with `countersign notices list`. Hide one with `countersign notices acknowledge` after you have checked it.";
  return notices.map(({ at, message }) =>
    warn("notices", `${absoluteTime(Date.parse(at))}: ${message}`, advice),
  );
}

function messageOf(error: unknown): string {
  return CountersignError.isInstance(error) ? error.message : String(error);
}
