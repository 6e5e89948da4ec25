import type { ListOptions } from "countersign/client";
import { ask, client, type Outcome } from "./client.ts";
import type { Confirmation, ListPage } from "./types.ts";

/** Page after page, until there is none, one fails, or the reader has enough. */
export async function* pages(query: ListOptions): AsyncGenerator<Outcome<ListPage<Confirmation>>> {
  for (let cursor: string | undefined; ; ) {
    const page = await ask(client.confirmations.list(cursor === undefined ? query : { ...query, cursor }));
    yield page;
    if (!page.ok || page.value.next === undefined) return;
    cursor = page.value.next;
  }
}
