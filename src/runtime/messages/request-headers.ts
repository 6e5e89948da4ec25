import { Agent, type AgentTree } from "../agents/index.ts";

/** The headers of a request, by name in any case; the platform's `Headers` is one. */
export interface HeaderSource {
  get(name: string): string | null | undefined;
}

interface Remembered {
  readonly values: ReadonlyMap<string, string>;
  readonly at: number;
}

const MOST_RUNS = 10_000;
const REMEMBERED_MS = 24 * 60 * 60 * 1000;

/**
 * The headers of the requests that began runs in this process: only those that a toolset of the app names, for at most
 * a day. They may be secrets, so they are never stored, and no other process knows them. A tool that needs them and
 * does not find them must not continue without them.
 */
export class RequestHeaders {
  readonly #names: readonly string[];
  readonly #now: () => number;
  readonly #runs = new Map<string, Remembered>();

  constructor(agents: AgentTree, now: () => number) {
    const toolsets = agents.names.flatMap((name) => {
      const agent = agents.get(name);
      return agent instanceof Agent ? agent.tools : [];
    });
    const named = toolsets.flatMap((entry) => ("tools" in entry ? (entry.requestHeaders ?? []) : []));
    this.#names = [...new Set(named.map((name) => name.toLowerCase()))];
    this.#now = now;
  }

  /** Stores the headers of a request in memory before its run starts. */
  remember(invocation: string, source: HeaderSource | undefined): void {
    if (this.#names.length === 0 || source === undefined) return;
    this.#forgetOld();
    const found = this.#names.map((name) => [name, source.get(name)] as const);
    const values = new Map(
      found.filter((pair): pair is readonly [string, string] => typeof pair[1] === "string"),
    );
    this.#runs.set(invocation, { values, at: this.#now() });
  }

  /** By lower-case name; undefined if this process did not receive the request, or no longer knows it. */
  of(invocation: string): ReadonlyMap<string, string> | undefined {
    const known = this.#runs.get(invocation);
    return known === undefined || this.#isOld(known) ? undefined : known.values;
  }

  // The oldest come first.
  #forgetOld(): void {
    for (const [invocation, remembered] of this.#runs) {
      if (this.#runs.size < MOST_RUNS && !this.#isOld(remembered)) return;
      this.#runs.delete(invocation);
    }
  }

  #isOld({ at }: Remembered): boolean {
    return this.#now() - at > REMEMBERED_MS;
  }
}

/** For a run without a request. */
export const NO_HEADERS: HeaderSource = { get: () => undefined };
