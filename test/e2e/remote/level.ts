import type { Child } from "../../support/processes/child.ts";
import type { Resources } from "../../support/resources.ts";
import type { Fault, LevelLine, LevelOptions } from "./server.program.ts";

const PROGRAM = new URL("./server.program.ts", import.meta.url);

/** One process of the chain, which can be started again where it was. */
export class Level {
  readonly #resources: Resources;
  readonly #options: LevelOptions;
  #child: Child<LevelLine>;
  url = "";
  /** How often it was started. */
  starts = 0;
  #port = 0;

  constructor(resources: Resources, options: LevelOptions) {
    this.#resources = resources;
    this.#options = options;
    this.#child = this.#spawn(options);
  }

  get ended(): Promise<unknown> {
    return this.#child.ended;
  }

  get child(): Child<LevelLine> {
    return this.#child;
  }

  /** From its next message on, it has this fault; started again, none. */
  async arm(fault: Fault): Promise<void> {
    this.#child.send(fault);
    await this.#child.line("armed");
  }

  /** Ends it as a power cut would. */
  async kill(): Promise<void> {
    await this.#child.kill();
  }

  async ready(): Promise<this> {
    const { url, port } = await this.#child.line("listening");
    this.url = url;
    this.#port = port;
    return this;
  }

  /** Starts it again on its database and port, this time to stay. */
  async again(): Promise<void> {
    this.#child = this.#spawn({ ...this.#options, port: this.#port });
    await this.ready();
  }

  #spawn(options: LevelOptions): Child<LevelLine> {
    this.starts += 1;
    return this.#resources.child<LevelLine>(PROGRAM, { args: [JSON.stringify(options)] });
  }
}
