import { join } from "node:path";
import type { Event } from "../../../src/index.ts";
import type { StoredEvent } from "../../../src/protocol/index.ts";
import { createLedger } from "../../../src/stores/index.ts";
import { type Effect, readEffects } from "../../support/ledger/effects.ts";
import type { Child, Line } from "../../support/processes/child.ts";
import type { Resources } from "../../support/resources.ts";
import { check, type Finding } from "../checker.ts";

const PROGRAM = new URL("./racer.program.ts", import.meta.url);

export const RACE_APP = "teller";

export interface RunnerRacerOptions {
  readonly ledger: string;
  readonly effects: string;
  readonly name: string;
  /** `runner`: as programs are. `worker`: it also takes up what others leave. `engine`: it only decides. */
  readonly role: "runner" | "worker" | "engine";
}

/** `at`: no earlier than this moment, and as exactly then as it can. */
export type RunnerTask =
  | { readonly do: "send" | "run"; readonly session: string; readonly text: string; readonly at?: number }
  | {
      readonly do: "decide";
      readonly confirmation: string;
      readonly confirmed: boolean;
      readonly times: number;
      readonly at?: number;
    };

/** One of the answers to a decision. */
export interface RunnerAnswer {
  readonly ok: boolean;
  readonly repeated?: boolean;
  readonly code?: string;
  readonly message?: string;
  /** The decision that stands, as this caller was told: the verdict and who gave it. */
  readonly decision?: string;
  /** What the run came to, as this caller was told. */
  readonly finished?: string;
}

export interface RunnerReplies {
  readonly send: { readonly status: string; readonly text: string; readonly pending: readonly string[] };
  readonly run: { readonly ids: readonly string[] };
  readonly decide: readonly RunnerAnswer[];
}

export type RunnerRacerMessage =
  | { readonly type: "task"; readonly id: number; readonly task: RunnerTask }
  | { readonly type: "leave" };

export type RunnerRacerLine =
  | (Line & { readonly type: "ready" | "in-body" | "asked" | "aborted" })
  | (Line & { readonly type: "event"; readonly event: Event })
  | (Line & {
      readonly type: "reply";
      readonly id: number;
      readonly value?: unknown;
      readonly error?: { readonly code: string; readonly message: string };
    });

/** What the process answered in place of a result. */
export class RacerError extends Error {
  readonly code: string;

  constructor({ code, message }: { readonly code: string; readonly message: string }) {
    super(message);
    this.code = code;
  }
}

/** One process of a race, as the test sees it. */
export class RunnerRacer {
  readonly child: Child<RunnerRacerLine>;
  #tasks = 0;

  constructor(child: Child<RunnerRacerLine>) {
    this.child = child;
  }

  /** Has it do something; rejects with a {@link RacerError} if that was refused. */
  async ask<T extends RunnerTask>(task: T): Promise<RunnerReplies[T["do"]]> {
    this.#tasks += 1;
    const id = this.#tasks;
    this.child.send({ type: "task", id, task } satisfies RunnerRacerMessage);
    const line = await this.child.line("reply", (reply) => reply.id === id);
    if (line.error !== undefined) throw new RacerError(line.error);
    return line.value as RunnerReplies[T["do"]];
  }

  /** Lets the slow tool of this process end. */
  leave(): void {
    this.child.send({ type: "leave" } satisfies RunnerRacerMessage);
  }

  /** The next streamed event that has such a part. */
  async event(has: "functionCall" | "functionResponse" | "text", name = ""): Promise<Event> {
    const line = await this.child.line("event", ({ event }) =>
      (event.content?.parts ?? []).some((part) =>
        has === "text" ? part.text !== undefined : part[has]?.name === name,
      ),
    );
    return line.event;
  }
}

/** Processes with Runners on one ledger file, and the world that their tools act upon. */
export class RunnerRace {
  readonly #resources: Resources;
  readonly #place: { readonly ledger: string; readonly effects: string };

  private constructor(resources: Resources, folder: string) {
    this.#resources = resources;
    this.#place = { ledger: join(folder, "ledger.db"), effects: join(folder, "effects.jsonl") };
  }

  static async on(resources: Resources): Promise<RunnerRace> {
    return new RunnerRace(resources, await resources.folder());
  }

  async racer(name: string, role: RunnerRacerOptions["role"] = "runner"): Promise<RunnerRacer> {
    const options: RunnerRacerOptions = { ...this.#place, name, role };
    const child = this.#resources.child<RunnerRacerLine>(PROGRAM, { args: [JSON.stringify(options)] });
    await child.line("ready");
    return new RunnerRacer(child);
  }

  /** What tools did, by the world's account. */
  effects(): readonly Effect[] {
    return readEffects(this.#place.effects);
  }

  /** All that a session says, in order. */
  async events(session: string): Promise<readonly StoredEvent[]> {
    const ledger = await createLedger(`sqlite:${this.#place.ledger}`);
    try {
      const found = await ledger.load({ session: { app: RACE_APP, user: "ana", id: session } });
      return found === undefined ? [] : await ledger.events(found.session.key);
    } finally {
      await ledger.close();
    }
  }

  /** What is wrong, now that nothing is on its way any more. */
  check(): Promise<readonly Finding[]> {
    return check({ ...this.#place, promised: [], moment: "rest" });
  }
}
