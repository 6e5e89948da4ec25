import { expect, test } from "vitest";
import { useResources } from "../../../../test/support/resources.ts";
import { MemoryStore } from "../../../stores/memory/memory-store.ts";
import { ManualClock } from "../../common/manual-clock.ts";
import { SessionWriter } from "../../ledger/contract/build.ts";
import { DocumentLedger } from "../document-ledger.ts";

const resources = useResources();

test("a page of idle sessions looks at so many sessions only, and the next goes on behind it", async () => {
  const store = new MemoryStore(new ManualClock());
  const ledger = new DocumentLedger(store);
  resources.add(() => ledger.close());
  for (let i = 0; i < 5_000; i += 1) {
    const key = `s${String(i).padStart(4, "0")}`;
    const isOld = i === 0 || i === 4_999;
    await new SessionWriter(ledger, key).commit([], { updatedAt: isOld ? 50 : 500 });
  }
  const looks: string[] = [];
  const documents = store.documents.bind(store);
  store.documents = (query) => {
    if ("afterKey" in query) looks.push(query.afterKey);
    return documents(query);
  };
  const found: string[][] = [];
  for (let cursor: string | undefined; found.length < 10; ) {
    const page = await ledger.sessions(
      { idleSince: 100 },
      { limit: 10, ...(cursor === undefined ? {} : { cursor }) },
    );
    found.push(page.items.map(({ key }) => key));
    if (page.next === undefined) break;
    cursor = page.next;
  }
  expect(found).toEqual([["s0000"], [], ["s4999"]]);
  // No document is looked at twice.
  expect(new Set(looks).size).toBe(looks.length);
});
