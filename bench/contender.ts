/** Where a contender keeps its ledger. `sqlite-full` syncs every commit. */
export const STORES = ["memory", "sqlite", "sqlite-full", "postgres"] as const;
export type Store = (typeof STORES)[number];

/** What a contender is given to work with. */
export interface Setting {
  readonly store: Store;
  /** The database file, which does not exist yet; unused in memory. On PostgreSQL the URL of an empty ledger. */
  readonly file: string;
  /** The body of the gated tool. Its runs are counted: call it once, after the approval. */
  readonly runBody: (args: { readonly amount: number }) => { readonly ok: boolean; readonly amount: number };
}

/** A contender with its ledger open. */
export interface Opened {
  /** One user message, up to the moment at which a person has to decide. Resolves to what `approve` needs. */
  pause(session: string): Promise<Paused>;
  close(): Promise<void>;
}

export interface Paused {
  /** Approves, and resolves when the last event of the answer is stored. */
  approve(): Promise<void>;
}

/** One way to do the same cycle. */
export interface Contender {
  open(setting: Setting): Promise<Opened>;
}

/** Loaded only in the process that runs them, so that no contender shares a heap or compiled code. */
const ON_SQLITE = {
  engine: async () => (await import("./contenders/engine.ts")).engine,
  floor: async () => (await import("./contenders/floor.ts")).floor,
  "floor-writes": async () => (await import("./contenders/floor.ts")).floorWrites,
} as const satisfies Contenders;

const ON_POSTGRES = {
  engine: ON_SQLITE.engine,
  floor: async () => (await import("./contenders/floor-postgres.ts")).floorPostgres,
} as const satisfies Contenders;

type Contenders = { readonly [name: string]: () => Promise<Contender> };

/** Who takes part on a store, by name. */
export function contendersOn(store: Store): Contenders {
  return store === "postgres" ? ON_POSTGRES : ON_SQLITE;
}
