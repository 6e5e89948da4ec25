import { expect, test } from "vitest";
import { bodyDigest } from "../../../src/engine/common/digest.ts";
import { Engine, type Ledger } from "../../../src/engine/index.ts";
import {
  CHAIN_START,
  chainHasher,
  checkpointHash,
  foldRoot,
  recordHash,
} from "../../../src/engine/journal/chain.ts";
import { tryApprove, tryDeny } from "../../../src/engine/testing/try-decide.ts";

type Row = Readonly<Record<string, unknown>>;

/** A ledger, and a shell on its database. */
export interface AttackedJournal {
  readonly ledger: Ledger;
  readonly store: "sqlite" | "postgres";
  readonly run: (sql: string) => Promise<unknown>;
  readonly rows: (sql: string) => Promise<readonly Row[]>;
}

/** What the verifier has: the secret that the ledger is written with, a head that was kept elsewhere. */
interface Given {
  readonly secret: boolean;
  readonly head: boolean;
  readonly store: AttackedJournal["store"];
}

interface Attack {
  readonly name: string;
  /** Statements for the database, or what somebody does who also knows this code. */
  readonly act: readonly string[] | ((attacked: AttackedJournal, engine: Engine) => Promise<unknown>);
  /** Always, unless told otherwise. */
  readonly isFound?: (given: Given) => boolean;
  /** Of the sentence that says so where it is not found. */
  readonly listed?: RegExp;
}

const SECRET = "a secret that only the processes know";
const ana = { id: "ana" };
const UNKEYED =
  /^A (?:complete rewrite|rewrite of everything newer than the head)\. Without COUNTERSIGN_SECRET/;
const NO_HEAD = /^Truncation\. Without --head/;
const NEWER = /newer than the last checkpoint/;

function key(id: string): string {
  return `(select key from sessions where id = '${id}')`;
}

const HEADS_FIT =
  "update sessions set chain_n = (select count(*) from journal where stream = sessions.key), chain_hash = coalesce((select hash from journal where stream = sessions.key order by n desc limit 1), '')";
const APPROVED = "kind = 'confirmation-approved'";
const DROP_OLD = [
  `delete from journal where stream = ${key("old")}`,
  "delete from sessions where id = 'old'",
] as const;

/** Everything sealed by two checkpoints, but for the session `new` and the last record of `live`. */
async function play(engine: Engine): Promise<string> {
  const pay = engine.gate("pay", { requireConfirmation: true }, async () => "paid");
  const ask = async (id: string): Promise<string> => {
    const outcome = await pay({ id }, { key: id, by: ana });
    return outcome.status === "pending" ? outcome.confirmation.id : "";
  };
  const [old, live, erased] = [await ask("old"), await ask("live"), await ask("erased")];
  const receipt = await tryApprove(engine, old, { by: ana });
  if (receipt.ok) await receipt.finished;
  await engine.head();
  await tryDeny(engine, live, { by: { id: "eve", kind: "agent" } });
  await engine.deny(erased, { by: ana, reason: "no" });
  await engine.deleteSession({ app: "gate:pay", user: "gate", id: "erased" }, ana);
  const head = await engine.head();
  await engine.deny(live, { by: ana, reason: "too much" });
  await ask("new");
  return head;
}

/** The hash that fits a row, as one computes it who does not have the secret. */
function fittingHash(row: Row, previous: string, sealed: number): string {
  return recordHash(
    chainHasher(undefined),
    previous,
    {
      stream: String(row["stream"]),
      n: Number(row["n"]),
      at: Number(row["at"]),
      kind: String(row["kind"]),
      bodyDigest: String(row["body_digest"]),
    },
    sealed,
  );
}

/** Adds a record to a session that says that all before it was erased, and erases it. */
async function forgeErasure({ ledger, store, run, rows }: AttackedJournal): Promise<void> {
  const [last] = await rows(`select * from journal where stream = ${key("live")} order by n desc limit 1`);
  if (last === undefined) throw new Error("no record");
  const n = Number(last["n"]) + 1;
  const body = JSON.stringify({ by: "ana", erased: n - 1 });
  const row = { ...last, n, kind: "session-deleted", body_digest: bodyDigest(ledger.digestKey, body) };
  const hash = fittingHash(row, String(last["hash"]), 2);
  const isFile = store === "sqlite";
  const seq = isFile ? "1 + (select max(seq) from journal)" : "nextval('journal_seq')";
  await run(
    `insert into journal (seq, stream, n, at, kind, body_digest, hash, body${isFile ? "" : ", commit_id"}) select ${seq}, stream, ${n}, at, 'session-deleted', '${row.body_digest}', '${hash}', '${body}'${isFile ? "" : ", commit_id"} from journal where stream = ${key("live")} and n = ${n - 1}`,
  );
  await run(`update journal set body = null where stream = ${key("live")} and n < ${n}`);
  await run(HEADS_FIT);
}

/** Puts another name to a decision, and computes every hash anew that depends on it. */
async function rewriteAll({ ledger, run, rows }: AttackedJournal): Promise<void> {
  const hasher = chainHasher(undefined);
  await run(`update journal set body = replace(body, '"ana"', '"eve"') where ${APPROVED}`);
  for (const row of await rows("select * from journal where body is not null")) {
    const digest = bodyDigest(ledger.digestKey, String(row["body"]));
    await run(`update journal set body_digest = '${digest}' where seq = ${String(row["seq"])}`);
  }
  const heads = new Map<string, string>();
  for (const row of await rows("select * from journal order by stream, n")) {
    const stream = String(row["stream"]);
    const sealed = Number.parseInt(String(row["hash"]), 10);
    const hash = fittingHash(row, heads.get(stream) ?? CHAIN_START, sealed);
    heads.set(stream, hash);
    await run(`update journal set hash = '${hash}' where seq = ${String(row["seq"])}`);
  }
  await run(HEADS_FIT);
  let root = "";
  let previous = CHAIN_START;
  let after = 0;
  for (const checkpoint of await rows("select * from checkpoints order by k")) {
    const [k, lastSeq, count, at] = ["k", "last_seq", "count", "at"].map((name) => Number(checkpoint[name]));
    if (k === undefined || lastSeq === undefined || count === undefined || at === undefined) return;
    for (const row of await rows(
      `select * from journal where seq > ${after} and seq <= ${lastSeq} order by seq`,
    )) {
      const [seq, n] = [Number(row["seq"]), Number(row["n"])];
      root = foldRoot(hasher, root, { seq, n, stream: String(row["stream"]), hash: String(row["hash"]) });
    }
    after = lastSeq;
    previous = checkpointHash(hasher, previous, { k, lastSeq, count, root, at });
    await run(`update checkpoints set root = '${root}', hash = '${previous}' where k = ${k}`);
  }
}

async function runAll({ run }: AttackedJournal, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await run(statement);
}

/** Leaves no gap where records were. */
async function numberAnew({ rows, run }: AttackedJournal): Promise<void> {
  const left = await rows("select seq from journal order by seq");
  for (const [index, { seq }] of left.entries())
    await run(`update journal set seq = ${index + 1} where seq = ${String(seq)}`);
}

const BODIES: readonly Attack[] = [
  { name: "the body of an approval removed", act: [`update journal set body = null where ${APPROVED}`] },
  { name: "all bodies removed", act: ["update journal set body = null"] },
  {
    name: "the body of a record removed that no checkpoint covers",
    act: [`update journal set body = null where stream = ${key("new")}`],
  },
  {
    name: "the body removed of the record that says what was erased",
    act: ["update journal set body = null where kind = 'session-deleted'"],
  },
  {
    name: "a body replaced",
    act: [`update journal set body = replace(body, '"ana"', '"eve"') where ${APPROVED}`],
  },
  {
    name: "a record made to say that its session was erased",
    act: [
      `update journal set kind = 'session-deleted' where kind = 'confirmation-denied' and stream = ${key("live")}`,
      `update journal set body = null where stream = ${key("live")} and kind <> 'session-deleted'`,
    ],
  },
  {
    name: "a record of an erasure taken from another session",
    act: [
      `update journal set stream = ${key("old")}, n = 1 + (select max(n) from journal where stream = ${key("old")}) where kind = 'session-deleted'`,
      `update journal set body = null where stream = ${key("old")} and kind <> 'session-deleted'`,
      HEADS_FIT,
    ],
  },
  {
    name: "a record of an erasure added",
    act: forgeErasure,
    isFound: ({ secret }) => secret,
    listed: UNKEYED,
  },
];

const FIELDS: readonly Attack[] = [
  ["at", "at + 1"],
  ["kind", "'confirmation-denied'"],
  ["body_digest", "'x'"],
  ["hash", "'0-x'"],
  ["hash", "replace(hash, '0-', '1-')"],
  ["n", "n + 100"],
  ["seq", "seq + 100"],
  ["stream", key("live")],
].map(([field = "", value = ""]) => ({
  name: `${field} made ${value}`,
  // Into a free place of that session, where it is moved to another.
  act: [`update journal set ${field} = ${value}${field === "stream" ? ", n = 100" : ""} where ${APPROVED}`],
}));

const RECORDS: readonly Attack[] = [
  { name: "a record removed", act: [`delete from journal where ${APPROVED}`] },
  {
    name: "a session's last records removed, and its head set back",
    act: [`delete from journal where stream = ${key("old")} and n > 1`, HEADS_FIT],
  },
  {
    name: "a record twice",
    act: ({ store, run }) => {
      const rest = `at, kind, body_digest, hash, body${store === "sqlite" ? "" : ", commit_id"}`;
      const copy = `select seq + 1000, stream, n + 100, ${rest} from journal where ${APPROVED}`;
      return run(`insert into journal (seq, stream, n, ${rest}) ${copy}`);
    },
  },
  {
    name: "two records that changed places",
    act: [
      "update journal set seq = 5000 where seq = 1",
      "update journal set seq = 1 where seq = 2",
      "update journal set seq = 2 where seq = 5000",
    ],
  },
  { name: "a session removed with its records", act: DROP_OLD },
  { name: "a session removed without its records", act: ["delete from sessions where id = 'old'"] },
  {
    name: "a session removed without its records, which no checkpoint covers",
    act: ["delete from sessions where id = 'new'"],
  },
  {
    name: "a session's last record removed, which no checkpoint covers",
    act: [`delete from journal where stream = ${key("live")} and kind = 'confirmation-denied'`, HEADS_FIT],
    // In a file records are numbered without gaps.
    isFound: ({ store }) => store === "sqlite",
    listed: NEWER,
  },
  {
    name: "the newest session removed with its records, which no checkpoint covers",
    act: [`delete from journal where stream = ${key("new")}`, "delete from sessions where id = 'new'"],
    isFound: () => false,
    listed: NEWER,
  },
];

const CHECKPOINTS: readonly Attack[] = [
  { name: "a checkpoint altered", act: ["update checkpoints set count = count - 1 where k = 1"] },
  { name: "a checkpoint's time altered", act: ["update checkpoints set at = at - 1 where k = 2"] },
  { name: "the first checkpoint removed", act: ["delete from checkpoints where k = 1"] },
  {
    name: "checkpoints renumbered",
    act: ["delete from checkpoints where k = 1", "update checkpoints set k = 1"],
  },
  { name: "the last checkpoint removed", act: ["delete from checkpoints where k = 2"] },
  { name: "all checkpoints removed", act: ["delete from checkpoints"] },
  {
    name: "all checkpoints removed, and an old session",
    act: ["delete from checkpoints", ...DROP_OLD],
  },
  {
    name: "all checkpoints removed, and an old session, and the records numbered anew",
    act: async (attacked) => {
      await runAll(attacked, ["delete from checkpoints", ...DROP_OLD]);
      await numberAnew(attacked);
    },
  },
  {
    name: "all checkpoints removed, and an old session, and what is left sealed anew by a process of ours",
    act: async (attacked, engine) => {
      await runAll(attacked, ["delete from checkpoints", ...DROP_OLD]);
      await engine.head();
      const more = engine.gate("more", { requireConfirmation: true }, async () => 1);
      for (const id of ["1", "2", "3"]) {
        await more({ id }, { key: id, by: ana });
        await engine.head();
      }
    },
  },
  {
    name: "everything removed that was written since the first checkpoint, with it, and an old session",
    act: async (attacked) => {
      const gone = "('old', 'erased', 'new')";
      await runAll(attacked, [
        "delete from checkpoints",
        "delete from journal where hash not like '0-%'",
        `delete from journal where stream in (select key from sessions where id in ${gone})`,
        `delete from sessions where id in ${gone}`,
      ]);
      await numberAnew(attacked);
      await attacked.run(HEADS_FIT);
    },
    isFound: ({ head }) => head,
    listed: NO_HEAD,
  },
  {
    name: "everything computed anew, with another name in a decision",
    act: rewriteAll,
    isFound: ({ secret, head }) => secret || head,
    listed: UNKEYED,
  },
];

/** Each tampering, with and without a secret, with and without a head: found, or told of as not to be found. */
export function testJournalAttacks(open: () => Promise<AttackedJournal>): void {
  for (const secret of [true, false])
    for (const attack of [undefined, ...BODIES, ...FIELDS, ...RECORDS, ...CHECKPOINTS]) {
      const given = `${secret ? "with" : "without"} a secret, with a head and without`;
      test(`${given}: ${attack?.name ?? "nothing altered"}`, async () => {
        const attacked = await open();
        const engine = new Engine({ ledger: attacked.ledger, ...(secret ? { secret: SECRET } : {}) });
        const kept = await play(engine);
        if (attack !== undefined) await commit(attack, attacked, engine);
        for (const head of [true, false]) {
          const verifier = new Engine({ ledger: attacked.ledger, ...(secret ? { secret: SECRET } : {}) });
          const { ok, faults, cannotDetect } = await verifier.verify(head ? { head: kept } : {});
          const isFound =
            attack !== undefined && (attack.isFound?.({ secret, head, store: attacked.store }) ?? true);
          expect(ok, `head: ${head}, ${JSON.stringify(faults)}`).toBe(!isFound);
          if (attack !== undefined && !isFound)
            expect(cannotDetect.filter((sentence) => attack.listed?.test(sentence))).toHaveLength(1);
        }
      });
    }
}

async function commit({ act }: Attack, attacked: AttackedJournal, engine: Engine): Promise<void> {
  if (typeof act === "function") await act(attacked, engine);
  else await runAll(attacked, act);
}
