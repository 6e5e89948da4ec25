import { DatabaseSync } from "node:sqlite";
import { bodyDigest } from "../../../src/engine/common/digest.ts";
import {
  CHAIN_START,
  chainHasher,
  checkpointHash,
  foldRoot,
  rowHash,
  sealedBefore,
} from "../../../src/engine/journal/chain.ts";

/** Rewrites a decision, and then every hash that depends on it, as one would who has the file and this code. */
export function rewriteConsistently(path: string, digestKey: Uint8Array, secret?: string): void {
  const hasher = chainHasher(secret);
  const database = new DatabaseSync(path);
  const all = (sql: string): Record<string, string | number>[] =>
    database.prepare(sql).all() as Record<string, string | number>[];
  database.exec(
    "update log set body = replace(body, '\"ana\"', '\"eve\"') where kinds like '%confirmation-approved%'",
  );
  for (const row of all("select seq, body from log where body is not null")) {
    const digest = bodyDigest(digestKey, String(row["body"]));
    database.prepare("update log set digest = ? where seq = ?").run(digest, Number(row["seq"]));
  }
  const heads = new Map<string, string>();
  for (const row of all("select * from log order by session, n")) {
    const session = String(row["session"]);
    const unhashed = {
      session,
      n: Number(row["n"]),
      at: Number(row["at"]),
      kinds: row["kinds"] === "" ? [] : (JSON.parse(String(row["kinds"])) as string[]),
      digest: String(row["digest"]),
    };
    const sealed = sealedBefore(String(row["hash"])) ?? 0;
    const hash = rowHash(hasher, heads.get(session) ?? CHAIN_START, unhashed, sealed);
    heads.set(session, hash);
    database.prepare("update log set hash = ? where seq = ?").run(hash, Number(row["seq"]));
  }
  for (const [key, hash] of heads)
    database
      .prepare("update documents set body = json_set(body, '$.head.chain.hash', ?) where key = ?")
      .run(hash, key);
  let root = "";
  let previous = CHAIN_START;
  let after = 0;
  for (const checkpoint of all("select * from checkpoints order by k")) {
    const lastSeq = Number(checkpoint["last_seq"]);
    for (const row of all(`select * from log where seq > ${after} and seq <= ${lastSeq} order by seq`)) {
      root = foldRoot(hasher, root, {
        seq: Number(row["seq"]),
        session: String(row["session"]),
        n: Number(row["n"]),
        hash: String(row["hash"]),
      });
    }
    after = lastSeq;
    const k = Number(checkpoint["k"]);
    const count = Number(checkpoint["count"]);
    previous = checkpointHash(hasher, previous, { k, lastSeq, count, root, at: Number(checkpoint["at"]) });
    database.prepare("update checkpoints set root = ?, hash = ? where k = ?").run(root, previous, k);
  }
  database.close();
}
