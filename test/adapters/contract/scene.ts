import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Confirmation, Engine, type EngineOptions } from "../../../src/engine/index.ts";
import type { JsonObject } from "../../../src/protocol/index.ts";
import { createLedger } from "../../../src/stores/index.ts";
import type { Child } from "../../support/processes/child.ts";
import type { Resources } from "../../support/resources.ts";
import type { ProgramLine, ProgramOptions } from "./program.ts";
import type { AdapterHost, AdapterSubject, World } from "./subject.ts";

const PROGRAM = new URL("../adapter.program.ts", import.meta.url);

/** The one who may decide. */
export const ana = { id: "ana", kind: "token", authenticated: true, scopes: ["decide"] } as const;

/** One ledger, and the programs of one adapter on it. */
export class Scene {
  readonly #resources: Resources;
  readonly #subject: AdapterSubject;
  readonly #url: string;
  readonly #effects: string;
  readonly #program: URL;

  constructor(
    resources: Resources,
    at: {
      readonly subject: AdapterSubject;
      readonly url: string;
      readonly folder: string;
      /** What is started as a process of its own. */
      readonly program?: URL;
    },
  ) {
    this.#resources = resources;
    this.#subject = at.subject;
    this.#url = at.url;
    this.#effects = join(at.folder, "effects.jsonl");
    this.#program = at.program ?? PROGRAM;
  }

  /** Another process's engine, as far as the ledger can tell. */
  async engine(options: Partial<EngineOptions> = {}): Promise<Engine> {
    const engine = new Engine({ ledger: await createLedger(this.#url), ...options });
    this.#resources.add(() => engine.close().catch(() => {}));
    return engine;
  }

  host(
    engine: Engine,
    more: Partial<Pick<World, "description" | "expiresInMs" | "thread" | "streams">> = {},
  ): AdapterHost {
    return this.#subject.open(worldOf({ engine, effects: this.#effects, ...more }));
  }

  /** A real process that goes on from this state when it is told to. */
  async process(
    state: string,
    { leaseMs, streams }: Pick<ProgramOptions, "leaseMs" | "streams"> = {},
  ): Promise<Child<ProgramLine>> {
    const given: ProgramOptions = {
      url: this.#url,
      effects: this.#effects,
      subject: this.#subject.name,
      state,
      ...(leaseMs === undefined ? {} : { leaseMs }),
      ...(streams === undefined ? {} : { streams }),
    };
    const child = this.#resources.child<ProgramLine>(this.#program, { args: [JSON.stringify(given)] });
    await child.line("ready");
    return child;
  }

  /** The arguments of every payment, by every process, in order. */
  get payments(): readonly JsonObject[] {
    if (!existsSync(this.#effects)) return [];
    const lines = readFileSync(this.#effects, "utf8").trim().split("\n");
    return lines.map((line) => JSON.parse(line) as JsonObject);
  }

  /** What was paid. */
  get paid(): readonly number[] {
    return this.payments.map(({ amount }) => Number(amount));
  }
}

/** The world of a host whose payments are written to a file. */
export function worldOf({
  engine,
  effects,
  entered,
  description = "Pays an amount.",
  thread = "thread-1",
  expiresInMs,
  streams,
}: {
  readonly engine: Engine;
  readonly effects: string;
  /** Called inside a payment that does not end. */
  readonly entered?: () => void;
  readonly description?: string;
  readonly thread?: string;
  readonly expiresInMs?: number;
  readonly streams?: true | undefined;
}): World {
  return {
    engine,
    app: "shop",
    thread,
    description,
    ...(expiresInMs === undefined ? {} : { expiresInMs }),
    ...(streams === undefined ? {} : { streams }),
    pay: async (args) => {
      appendFileSync(effects, `${JSON.stringify(args)}\n`);
      if (args["hang"] === true) {
        entered?.();
        await new Promise(() => {});
      }
      return { paid: args["amount"] ?? null };
    },
  };
}

/** The open questions, in the order of their calls' ids: several may be asked in one millisecond. */
export async function questions(engine: Engine): Promise<readonly Confirmation[]> {
  const open = await engine.pending({ by: ana });
  return open.toSorted((a, b) => a.callId.localeCompare(b.callId));
}

/** The only open question. */
export async function question(engine: Engine): Promise<Confirmation> {
  const [only, ...others] = await questions(engine);
  if (only === undefined || others.length > 0)
    throw new Error(`There are ${others.length + 1} questions, or none.`);
  return only;
}
