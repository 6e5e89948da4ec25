import type { KeyValueStore, Page, PageRequest, StoredItem } from "../ledger/index.ts";
import { afterOf, limitOf, toPage } from "./pages.ts";
import type { Store } from "./store.ts";

/** What belongs to no session, as a store keeps it. */
export class StoredItems implements KeyValueStore {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async get(kind: string, id: string): Promise<StoredItem | undefined> {
    return (await this.#store.items([{ kind, id }]))[0];
  }

  async list(kind: string, page?: PageRequest & { readonly after?: string }): Promise<Page<StoredItem>> {
    const limit = limitOf(page);
    const [after = ""] = afterOf(page, [page?.after ?? ""]);
    const found = await this.#store.itemsOf(kind, { after, limit: limit + 1 });
    return toPage(found, limit, ({ id }) => [id]);
  }

  put({ kind, id, value, expiresAt }: Omit<StoredItem, "version">, read: number): Promise<boolean> {
    return this.#store.change({
      items: [{ kind, id, value, read, ...(expiresAt === undefined ? {} : { expiresAt }) }],
    });
  }

  remove({ kind, id, version }: Pick<StoredItem, "kind" | "id" | "version">): Promise<boolean> {
    return this.#store.change({ items: [{ kind, id, read: version }] });
  }

  async pin(name: string, value: string): Promise<string> {
    await this.#store.change({ items: [{ kind: "pin", id: name, value, read: 0 }] });
    return (await this.#store.items([{ kind: "pin", id: name }]))[0]?.value as string;
  }
}
