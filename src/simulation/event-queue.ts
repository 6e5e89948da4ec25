interface Item<T> {
  readonly at: number;
  /** If two events have the same time, the one that was added first comes first. */
  readonly order: number;
  readonly value: T;
}

/** What happens when, nearest first: a binary heap. */
export class EventQueue<T> {
  readonly #heap: Item<T>[] = [];
  #added = 0;

  get size(): number {
    return this.#heap.length;
  }

  add(at: number, value: T): void {
    this.#added += 1;
    const heap = this.#heap;
    heap.push({ at, order: this.#added, value });
    let place = heap.length - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!isBefore(heap[place], heap[parent])) return;
      this.#swap(place, parent);
      place = parent;
    }
  }

  /** Takes the nearest. */
  take(): { readonly at: number; readonly value: T } | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (heap.length === 0 || last === undefined) return first;
    heap[0] = last;
    this.#sink();
    return first;
  }

  #sink(): void {
    const heap = this.#heap;
    let place = 0;
    for (;;) {
      let least = place;
      for (const child of [2 * place + 1, 2 * place + 2])
        if (isBefore(heap[child], heap[least])) least = child;
      if (least === place) return;
      this.#swap(place, least);
      place = least;
    }
  }

  #swap(one: number, other: number): void {
    const heap = this.#heap;
    [heap[one], heap[other]] = [heap[other] as Item<T>, heap[one] as Item<T>];
  }
}

function isBefore<T>(one: Item<T> | undefined, other: Item<T> | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  return one.at === other.at ? one.order < other.order : one.at < other.at;
}
