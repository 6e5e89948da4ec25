import type { Principal } from "../engine/index.ts";

/** How many reads of one caller are answered at a time. */
const AT_ONCE = 4;

interface Caller {
  running: number;
  readonly waiting: (() => void)[];
}

/** Who is being answered, and who waits, by caller: large answers take long, and others need their time too. */
export class Turns {
  readonly #callers = new Map<string, Caller>();

  /** Resolves when it is this one's turn, to what ends it. */
  async take({ kind, id }: Principal): Promise<() => void> {
    const name = `${kind} ${id}`;
    const own = this.#callers.get(name) ?? { running: 0, waiting: [] };
    this.#callers.set(name, own);
    if (own.running < AT_ONCE) own.running += 1;
    else await new Promise<void>((resolve) => own.waiting.push(resolve));
    // Not at once: else the next one would begin before anybody else's request is looked at.
    return () => void setImmediate(() => this.#leave(name, own));
  }

  #leave(name: string, own: Caller): void {
    const next = own.waiting.shift();
    // It goes on in the place of this one.
    if (next !== undefined) return next();
    own.running -= 1;
    if (own.running === 0) this.#callers.delete(name);
  }
}
