import type { StoreCommit } from "../../../src/engine/index.ts";
import { openPostgresStore, type PostgresOptions } from "../../../src/stores/postgres/open.ts";
import type { PostgresStore } from "../../../src/stores/postgres/postgres-store.ts";
import type { Resources } from "../resources.ts";

/** A store without a ledger on it; closed after the test. */
export async function openStore(
  resources: Resources,
  url: string,
  options: Omit<PostgresOptions, "url"> = {},
): Promise<PostgresStore> {
  const store = await openPostgresStore({ url, ...options });
  resources.add(() => store.close());
  return store;
}

const AT = 1_800_000_000_000;

/** A commit that makes or moves a session from this version, and adds one entry for it. */
export function buildCommit(key: string, version: number, over: Partial<StoreCommit> = {}): StoreCommit {
  const n = version + 1;
  const name = { app: "app", user: "user", id: key };
  return {
    key,
    version,
    ...(version === 0 ? { create: name } : {}),
    document: {
      head: {
        ...name,
        nextSeq: 1,
        open: 0,
        ready: 0,
        bytes: 0,
        chain: { n, hash: `hash-${n}` },
        createdAt: AT,
        updatedAt: AT,
      },
      frames: [],
      calls: [],
      confirmations: [],
      steps: [],
    },
    log: {
      session: key,
      n,
      at: AT,
      kinds: ["noted"],
      digest: `digest-${n}`,
      hash: `hash-${n}`,
      events: 0,
      body: `{"of":"${key}"}`,
    },
    items: [],
    add: [{ facet: "all", value: "", sort: 0, id: `${key} ${n}` }],
    remove: [],
    sync: false,
    ...over,
  };
}
