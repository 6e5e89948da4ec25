import { join } from "node:path";
import { expect, test } from "vitest";
import { useResources } from "../../../test/support/resources.ts";
import { SlackStandIn, WORKSPACE } from "../../../test/support/slack/slack-stand-in.ts";
import { type KeyValueStore, type Ledger, ManualClock } from "../../engine/index.ts";
import { createLedger } from "../../stores/index.ts";
import { buildNotice } from "../channel.contract.ts";
import type { Channel } from "../channel.ts";
import { createSlackChannel } from "./slack-channel.ts";

const signal = new AbortController().signal;
const resources = useResources();
const MOST_WRITES = 40;
const LATER_MS = 60_000;

/** The ledger's store as a process sees it that dies at its n-th write: the write may still have been committed. */
function dyingStore(
  { items: store, now }: Pick<Ledger, "items" | "now">,
  { writes, committed }: { readonly writes: number; readonly committed: boolean },
): Pick<Ledger, "items" | "now"> {
  let left = writes;
  const items: KeyValueStore = {
    get: (kind, id) => (left < 0 ? dead() : store.get(kind, id)),
    list: (kind, page) => store.list(kind, page),
    remove: (item) => store.remove(item),
    pin: (name, value) => store.pin(name, value),
    async put(item, read) {
      left -= 1;
      if (left >= 0) return store.put(item, read);
      if (left === -1 && committed) await store.put(item, read);
      return dead();
    },
  };
  return { items, now };
}

async function dead(): Promise<never> {
  throw new Error("The process died.");
}

/** Tells a notice in a process that dies, and then again and again in others, until it is told. */
async function tellThroughCrash(
  slack: SlackStandIn,
  crash: { readonly writes: number; readonly committed: boolean },
): Promise<{ readonly died: boolean }> {
  const clock = new ManualClock();
  const ledger = await createLedger(`sqlite:${join(await resources.folder(), "ledger.db")}`, { clock });
  resources.add(() => ledger.close());
  const create = (store: Pick<Ledger, "items" | "now">): Channel =>
    createSlackChannel({
      ...WORKSPACE,
      ledger: store,
      people: [
        { id: "ana", slack: "U0ANA" },
        { id: "ana", slack: "U0BOB" },
      ],
      apiUrl: slack.url,
    });
  const first = create(dyingStore(ledger, crash));
  const died = await first.tell(buildNotice(), signal).then(
    () => false,
    () => true,
  );
  for (let tries = 0; tries < 10; tries += 1) {
    const told = await create(ledger).tell(buildNotice(), signal);
    if (told.ok) return { died };
    await clock.advance(LATER_MS);
  }
  throw new Error("It is never told.");
}

test.each([true, false])(
  "a process that dies at any write leaves one message per person (committed: %s)",
  async (committed) => {
    for (let writes = 0; writes < MOST_WRITES; writes += 1) {
      const slack = await new SlackStandIn().listen();
      resources.add(() => slack.close());
      const { died } = await tellThroughCrash(slack, { writes, committed });
      const places = slack.messages.map(({ channel }) => channel).toSorted();
      expect({ writes, places }).toEqual({ writes, places: [WORKSPACE.room, "D0ANA", "D0BOB"] });
      if (!died) return;
    }
    throw new Error("It writes more than expected.");
  },
);
