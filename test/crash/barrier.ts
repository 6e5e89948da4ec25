/** Where bodies stop until they may all go on. */
export class Barrier {
  readonly #opened: Promise<void>;
  readonly #waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  #arrived = 0;
  #open: () => void = () => {};

  constructor() {
    this.#opened = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  open(): void {
    this.#open();
  }

  /** Arrives, and resolves when it is open. */
  passed(): Promise<void> {
    this.#arrived += 1;
    for (const { count, resolve } of this.#waiting) if (count <= this.#arrived) resolve();
    return this.#opened;
  }

  /** Resolves when so many have arrived. */
  arrived(count: number): Promise<void> {
    if (this.#arrived >= count) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push({ count, resolve });
    });
  }
}
