/** What the peer benchmark writes, as far as the page tells of it. */
export interface PeerResults {
  readonly env: {
    readonly node: string;
    readonly cores: number;
    readonly memGiB: number;
    readonly postgres?: string;
    readonly packages: readonly string[];
    readonly rounds: number;
    readonly targetMs: number;
    readonly date: string;
  };
  readonly W1?: Cycles;
  readonly W2?: Cycles;
  readonly W3?: Cycles;
  /** The same with 8 sessions in flight, and with 64. */
  readonly W3c?: Cycles;
  readonly W3d?: Cycles;
  readonly W4?: { readonly [store: string]: Growth };
  readonly W5?: { readonly [contender: string]: { readonly [store: string]: Safety } };
  readonly W6?: Ungated;
  readonly W7?: { readonly [contender: string]: Memory };
}

type Samples = { readonly [contender: string]: readonly number[] };
type Failures = { readonly [contender: string]: string };

/** Full cycles: one sample for each round. */
export interface Cycles {
  readonly rates: Samples;
  readonly cpuMsPerCycle: Samples;
  readonly failed: Failures;
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

/** What the harness calls this package. */
export const OURS = "ours";

/** By hand and without features: bounds of what is attainable, and no peers. */
const BOUNDS: ReadonlySet<string> = new Set(["floor", "floor-full"]);

/** Frameworks that bring a store for paused runs; the others keep a row that their user wrote. */
const WITH_A_STORE: ReadonlySet<string> = new Set(["adk", "adk-wal", "langgraph", "langchain", "mastra"]);

export function isPeer(contender: string): boolean {
  return contender !== OURS && !BOUNDS.has(contender);
}

export function hasOwnStore(contender: string): boolean {
  return WITH_A_STORE.has(contender);
}
