import type { StoreCommit } from "../../../engine/index.ts";

/** The commit that brings a session to version `n`. Its entry can be found under its key. */
export function buildCommit(key: string, n: number, over: Partial<StoreCommit> = {}): StoreCommit {
  const name = { app: "bank", user: "ana", id: key };
  const hash = `${key}-${n}`;
  return {
    key,
    version: n - 1,
    ...(n === 1 ? { create: name } : {}),
    document: {
      head: {
        ...name,
        nextSeq: 1,
        open: 0,
        ready: 0,
        bytes: 0,
        chain: { n, hash },
        createdAt: 0,
        updatedAt: n,
      },
      frames: [],
      calls: [],
      confirmations: [],
      steps: [],
    },
    log: { session: key, n, at: n, kinds: [], digest: "", hash, events: 0, body: `{"of":"${hash}"}` },
    add: [{ facet: "test", value: key, sort: n, id: hash }],
    remove: [],
    items: [],
    sync: false,
    ...over,
  };
}
