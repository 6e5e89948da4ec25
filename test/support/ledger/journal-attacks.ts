import { expect, test } from "vitest";
import { bodyDigest } from "../../../src/engine/common/digest.ts";
import { Engine, type Ledger } from "../../../src/engine/index.ts";
import {
  CHAIN_START,
  chainHasher,
  checkpointHash,
  foldRoot,
  rowHash,
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
  /** And every session is made to say that its log ends where it does. */
  readonly fitsHeads?: true;
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
  return `(select key from documents where id = '${id}')`;
}

const APPROVED = "kinds like '%confirmation-approved%'";
const DROP_OLD = [
  `delete from log where session = ${key("old")}`,
  "delete from documents where id = 'old'",
] as const;

/** Makes every session say that its log ends where it does. */
async function fitHeads({ rows, run }: AttackedJournal): Promise<void> {
  for (const { key: session, body } of await rows("select key, body from documents")) {
    const [last] = await rows(
      `select n, hash from log where session = '${String(session)}' order by n desc limit 1`,
    );
    const document = JSON.parse(String(body)) as { head: { chain: unknown } };
    document.head.chain =
      last === undefined ? { n: 0, hash: "" } : { n: Number(last["n"]), hash: String(last["hash"]) };
    const text = JSON.stringify(document).replaceAll("'", "''");
    await run(`update documents set body = '${text}' where key = '${String(session)}'`);
  }
}

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
  const kinds = String(row["kinds"]);
  return rowHash(
    chainHasher(undefined),
    previous,
    {
      session: String(row["session"]),
      n: Number(row["n"]),
      at: Number(row["at"]),
      kinds: kinds === "" ? [] : (JSON.parse(kinds) as string[]),
      digest: String(row["digest"]),
    },
    sealed,
  );
}

/** Adds a commit to a session that says that all before it was erased, and erases it. */
async function forgeErasure(attacked: AttackedJournal): Promise<void> {
  const { ledger, store, run, rows } = attacked;
  const [last] = await rows(`select * from log where session = ${key("live")} order by n desc limit 1`);
  if (last === undefined) throw new Error("no commit");
  const n = Number(last["n"]) + 1;
  const body = JSON.stringify({ records: [{ by: "ana", erased: n - 1 }], events: [] });
  const kinds = JSON.stringify(["session-deleted"]);
  const row = { ...last, n, kinds, digest: bodyDigest(ledger.digestKey, body) };
  const hash = fittingHash(row, String(last["hash"]), 2);
  const isFile = store === "sqlite";
  const seq = isFile ? "1 + (select max(seq) from log)" : "nextval('log_seq')";
  await run(
    `insert into log (seq, session, n, at, kinds, digest, hash, events, body${isFile ? "" : ", commit_id"}) select ${seq}, session, ${n}, at, '${kinds}', '${row.digest}', '${hash}', events, '${body}'${isFile ? "" : ", commit_id"} from log where session = ${key("live")} and n = ${n - 1}`,
  );
  await run(`update log set body = null where session = ${key("live")} and n < ${n}`);
  await fitHeads(attacked);
}

/** Puts another name to a decision, and computes every hash anew that depends on it. */
async function rewriteAll(attacked: AttackedJournal): Promise<void> {
  const { ledger, run, rows } = attacked;
  const hasher = chainHasher(undefined);
  await run(`update log set body = replace(body, '"ana"', '"eve"') where ${APPROVED}`);
  for (const row of await rows("select * from log where body is not null")) {
    const digest = bodyDigest(ledger.digestKey, String(row["body"]));
    await run(`update log set digest = '${digest}' where seq = ${String(row["seq"])}`);
  }
  const heads = new Map<string, string>();
  for (const row of await rows("select * from log order by session, n")) {
    const session = String(row["session"]);
    const sealed = Number.parseInt(String(row["hash"]), 10);
    const hash = fittingHash(row, heads.get(session) ?? CHAIN_START, sealed);
    heads.set(session, hash);
    await run(`update log set hash = '${hash}' where seq = ${String(row["seq"])}`);
  }
  await fitHeads(attacked);
  let root = "";
  let previous = CHAIN_START;
  let after = 0;
  for (const checkpoint of await rows("select * from checkpoints order by k")) {
    const [k, lastSeq, count, at] = ["k", "last_seq", "count", "at"].map((name) => Number(checkpoint[name]));
    if (k === undefined || lastSeq === undefined || count === undefined || at === undefined) return;
    for (const row of await rows(
      `select * from log where seq > ${after} and seq <= ${lastSeq} order by seq`,
    )) {
      const [seq, n] = [Number(row["seq"]), Number(row["n"])];
      root = foldRoot(hasher, root, { seq, n, session: String(row["session"]), hash: String(row["hash"]) });
    }
    after = lastSeq;
    previous = checkpointHash(hasher, previous, { k, lastSeq, count, root, at });
    await run(`update checkpoints set root = '${root}', hash = '${previous}' where k = ${k}`);
  }
}

async function runAll({ run }: AttackedJournal, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await run(statement);
}

/** Leaves no gap where commits were. */
async function numberAnew({ rows, run }: AttackedJournal): Promise<void> {
  const left = await rows("select seq from log order by seq");
  for (const [index, { seq }] of left.entries())
    await run(`update log set seq = ${index + 1} where seq = ${String(seq)}`);
}

const BODIES: readonly Attack[] = [
  { name: "the body of an approval removed", act: [`update log set body = null where ${APPROVED}`] },
  { name: "all bodies removed", act: ["update log set body = null"] },
  {
    name: "the body of a record removed that no checkpoint covers",
    act: [`update log set body = null where session = ${key("new")}`],
  },
  {
    name: "the body removed of the record that says what was erased",
    act: ["update log set body = null where kinds like '%session-deleted%'"],
  },
  {
    name: "a body replaced",
    act: [`update log set body = replace(body, '"ana"', '"eve"') where ${APPROVED}`],
  },
  {
    name: "a record made to say that its session was erased",
    act: [
      `update log set kinds = replace(kinds, 'confirmation-denied', 'session-deleted') where kinds like '%confirmation-denied%' and session = ${key("live")}`,
      `update log set body = null where session = ${key("live")} and kinds not like '%session-deleted%'`,
    ],
  },
  {
    name: "a record of an erasure taken from another session",
    act: [
      `update log set session = ${key("old")}, n = 1 + (select max(n) from log where session = ${key("old")}) where kinds like '%session-deleted%'`,
      `update log set body = null where session = ${key("old")} and kinds not like '%session-deleted%'`,
    ],
    fitsHeads: true,
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
  ["kinds", `'["confirmation-denied"]'`],
  ["digest", "'x'"],
  ["hash", "'0-x'"],
  ["hash", "replace(hash, '0-', '1-')"],
  ["n", "n + 100"],
  ["seq", "seq + 100"],
  ["session", key("live")],
].map(([field = "", value = ""]) => ({
  name: `${field} made ${value}`,
  // Into a free place of that session, where it is moved to another.
  act: [`update log set ${field} = ${value}${field === "session" ? ", n = 100" : ""} where ${APPROVED}`],
}));

const RECORDS: readonly Attack[] = [
  { name: "a record removed", act: [`delete from log where ${APPROVED}`] },
  {
    name: "a session's last records removed, and its head set back",
    act: [`delete from log where session = ${key("old")} and n > 1`],
    fitsHeads: true,
  },
  {
    name: "a record twice",
    act: ({ store, run }) => {
      const rest = `at, kinds, digest, hash, events, body${store === "sqlite" ? "" : ", commit_id"}`;
      const copy = `select seq + 1000, session, n + 100, ${rest} from log where ${APPROVED}`;
      return run(`insert into log (seq, session, n, ${rest}) ${copy}`);
    },
  },
  {
    name: "two records that changed places",
    act: [
      "update log set seq = 5000 where seq = 1",
      "update log set seq = 1 where seq = 2",
      "update log set seq = 2 where seq = 5000",
    ],
  },
  { name: "a session removed with its records", act: DROP_OLD },
  { name: "a session removed without its records", act: ["delete from documents where id = 'old'"] },
  {
    name: "a session removed without its records, which no checkpoint covers",
    act: ["delete from documents where id = 'new'"],
  },
  {
    name: "a session's last record removed, which no checkpoint covers",
    act: [`delete from log where session = ${key("live")} and kinds like '%confirmation-denied%'`],
    fitsHeads: true,
    // In a file records are numbered without gaps.
    isFound: ({ store }) => store === "sqlite",
    listed: NEWER,
  },
  {
    name: "the newest session removed with its records, which no checkpoint covers",
    act: [`delete from log where session = ${key("new")}`, "delete from documents where id = 'new'"],
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
        "delete from log where hash not like '0-%'",
        `delete from log where session in (select key from documents where id in ${gone})`,
        `delete from documents where id in ${gone}`,
      ]);
      await numberAnew(attacked);
      await fitHeads(attacked);
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
export function testJournalAttacks(
  open: () => Promise<AttackedJournal>,
  secrets: readonly boolean[] = [true, false],
): void {
  for (const secret of secrets)
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

async function commit(attack: Attack, attacked: AttackedJournal, engine: Engine): Promise<void> {
  const { act, fitsHeads } = attack;
  if (typeof act === "function") await act(attacked, engine);
  else await runAll(attacked, act);
  if (fitsHeads === true) await fitHeads(attacked);
}
