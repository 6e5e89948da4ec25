/** Where a contender keeps its ledger. `sqlite-full` syncs every commit. */
export const STORES = ["memory", "sqlite", "sqlite-full"] as const;
export type Store = (typeof STORES)[number];

/** What a contender is given to work with. */
export interface Setting {
  readonly store: Store;
  /** The database file; it does not exist yet. Unused in memory. */
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
export const CONTENDERS = {
  engine: async () => (await import("./contenders/engine.ts")).engine,
  floor: async () => (await import("./contenders/floor.ts")).floor,
  "floor-writes": async () => (await import("./contenders/floor.ts")).floorWrites,
} as const satisfies Record<string, () => Promise<Contender>>;

export type ContenderName = keyof typeof CONTENDERS;

export function isContenderName(name: string): name is ContenderName {
  return Object.hasOwn(CONTENDERS, name);
}
