import type { Page, PageRequest } from "./lists.ts";

/** Reads one page of a list. */
export type ReadPage<T> = (request: PageRequest) => Promise<Page<T>>;

/** The pages of a list to its end. Each is read when the one before it has been dealt with. */
export async function* pagesOf<T>(read: ReadPage<T>, limit?: number): AsyncGenerator<readonly T[]> {
  const size = limit === undefined ? {} : { limit };
  for (let cursor: string | undefined; ; ) {
    const { items, next } = await read(cursor === undefined ? size : { ...size, cursor });
    yield items;
    if (next === undefined) return;
    cursor = next;
  }
}

/** What is in a list, to its end, read page by page as {@link pagesOf} does. */
export async function* eachOf<T>(read: ReadPage<T>, limit?: number): AsyncGenerator<T> {
  for await (const items of pagesOf(read, limit)) yield* items;
}

/** All that is in a list. */
export async function allOf<T>(read: ReadPage<T>, limit?: number): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const items of pagesOf(read, limit)) all.push(...items);
  return all;
}
