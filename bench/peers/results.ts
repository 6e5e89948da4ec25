/** What the peer benchmark writes, as far as the page tells of it. */
export interface PeerResults {
  readonly env: {
    readonly node: string;
    /** What contenders with a native module run on. */
    readonly oldNode: string;
    readonly cores: number;
    readonly memGiB: number;
    readonly postgres?: string;
    readonly packages: readonly string[];
    readonly rounds: number;
    readonly targetMs: number;
    readonly date: string;
  };
  readonly memory?: Cycles;
  /** With 1, 8 and 64 sessions in flight. */
  readonly sqlite1?: Cycles;
  readonly sqlite8?: Cycles;
  readonly sqlite64?: Cycles;
  readonly postgres1?: Cycles;
  readonly postgres8?: Cycles;
  readonly postgres64?: Cycles;
  readonly growth?: { readonly [store: string]: Growth };
  readonly safety?: { readonly [contender: string]: { readonly [store: string]: Safety } };
  readonly ungated?: Ungated;
  readonly paused?: { readonly [contender: string]: Memory };
}

type Samples = { readonly [contender: string]: readonly number[] };
type Failures = { readonly [contender: string]: string };

/** Full cycles: one sample for each round. */
export interface Cycles {
  readonly rates: Samples;
  readonly cpuMsPerCycle: Samples;
  readonly failed: Failures;
  /** The Node of each contender. */
  readonly nodes: { readonly [contender: string]: string };
  readonly load: readonly number[];
}

type BySize = { readonly [contender: string]: { readonly [events: string]: readonly number[] } };

/** Milliseconds, by how many events the session had. */
export interface Growth {
  readonly toTool: BySize;
  readonly toFinal: BySize;
  readonly toPause: BySize;
  readonly failed: Failures;
}

/** How often the tool ran for one approval. */
export interface Safety {
  readonly simultaneous: readonly number[];
  readonly staggered: readonly number[];
  readonly replay: readonly number[];
  readonly twoProcesses?: readonly number[];
  readonly twoProcessesStaggered?: readonly number[];
  readonly crash?: { readonly executions?: number; readonly seenBefore?: string; readonly answer?: string };
  readonly error?: string;
}

/** Microseconds for a call that needs nobody. */
export interface Ungated {
  readonly seq: Samples;
  readonly par: Samples;
  readonly direct: readonly number[];
  readonly failed: Failures;
}

/** Bytes before and after so many sessions were paused. */
export interface Memory {
  readonly n?: number;
  readonly rss0?: number;
  readonly rss1?: number;
  readonly heap0?: number;
  readonly heap1?: number;
  readonly error?: string;
}

/** The file of this package among the contenders. */
export const OURS = "ours";

/** By hand and without features: bounds of what is attainable, and no peers. */
const BOUNDS: ReadonlySet<string> = new Set(["floor", "floor-full", "floor-records"]);

export function isPeer(contender: string): boolean {
  return contender !== OURS && !BOUNDS.has(contender);
}
