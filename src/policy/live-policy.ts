import type { Approvers, Policy, PolicySource } from "../engine/index.ts";
import type { JsonObject } from "../protocol/index.ts";
import { argsCondition } from "./conditions/args-condition.ts";

/** A policy that can be replaced while an engine uses it, when its file changes. */
export class LivePolicy implements PolicySource {
  #now: PolicySource;

  constructor(first: PolicySource) {
    this.#now = first;
  }

  /** Judges all calls with this policy from now on, also those with an open question. */
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

  // Absent and undefined mean the same to readers, but not to the compiler.
  get voteMaxAgeMs(): number {
    return this.#now.voteMaxAgeMs ?? Number.POSITIVE_INFINITY;
  }

  get readsState(): boolean {
    return this.#now.readsState ?? true;
  }

  group(name: string): Approvers | undefined {
    return this.#now.group(name);
  }

  person(id: string): string {
    return this.#now.person(id);
  }

  logins(id: string): readonly string[] {
    return this.#now.logins?.(id) ?? [id];
  }

  condition(text: string): (args: JsonObject) => boolean {
    return (this.#now.condition ?? argsCondition)(text);
  }
}
