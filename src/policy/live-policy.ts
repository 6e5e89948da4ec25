import type { Approvers, Policy, PolicySource } from "../engine/index.ts";

/** A policy that can be replaced while an engine uses it: by what its file says now. */
export class LivePolicy implements PolicySource {
  #now: PolicySource;

  constructor(first: PolicySource) {
    this.#now = first;
  }

  /** From here on this one judges, also calls that were asked about before. */
  replace(next: PolicySource): void {
    this.#now = next;
  }

  get judge(): Policy {
    return this.#now.judge;
  }

  get version(): string {
    return this.#now.version;
  }

  get text(): string {
    return this.#now.text;
  }

  // Absent and undefined mean the same to whoever reads it, but not to the compiler.
  get voteMaxAgeMs(): number {
    return this.#now.voteMaxAgeMs ?? Number.POSITIVE_INFINITY;
  }

  group(name: string): Approvers | undefined {
    return this.#now.group(name);
  }

  person(id: string): string {
    return this.#now.person(id);
  }
}
