import { join } from "node:path";
import { expect, test } from "vitest";
import { status, WebhookReceiver } from "../../../test/support/http/webhook-receiver.ts";
import { type Crash, dyingStore } from "../../../test/support/ledger/dying-store.ts";
import { createDevice } from "../../../test/support/push/device.ts";
import { useResources } from "../../../test/support/resources.ts";
import { type Ledger, ManualClock, type Principal } from "../../engine/index.ts";
import { createLedger } from "../../stores/index.ts";
import { buildNotice } from "../channel.contract.ts";
import type { Channel } from "../channel.ts";
import { createPushChannel } from "./push-channel.ts";

const signal = new AbortController().signal;
const resources = useResources();
const MOST_WRITES = 40;
const LATER_MS = 60_000;
const ANA: Principal = { id: "ana", kind: "oidc", roles: [], scopes: ["decide"], authenticated: true };

/** Sends a notice in a process that dies, and then again and again in others, until it is sent. */
async function tellThroughCrash(
  receiver: WebhookReceiver,
  crash: Crash,
): Promise<{ readonly died: boolean; readonly shown: readonly string[] }> {
  const clock = new ManualClock();
  const ledger = await createLedger(`sqlite:${join(await resources.folder(), "ledger.db")}`, { clock });
  resources.add(() => ledger.close());
  const create = (store: Ledger): Channel =>
    createPushChannel({ ledger: store, contact: "mailto:ops@example.com", services: [receiver.url] });
  const devices = ["/phone", "/desk"].map((path) => [path, createDevice(`${receiver.url}${path}`)] as const);
  for (const [, { subscription }] of devices) {
    const body = Buffer.from(JSON.stringify(subscription));
    const request = { method: "PUT", headers: new Headers(), body };
    await create(ledger).routes?.["subscriptions"]?.(request, ANA);
  }
  const died = await create(dyingStore(ledger, crash))
    .tell(buildNotice(), signal)
    .then(
      () => false,
      () => true,
    );
  for (let tries = 0; tries < 10; tries += 1) {
    if ((await create(ledger).tell(buildNotice(), signal)).ok) {
      const read = new Map(devices);
      // A device shows messages with the same id once.
      const shown = receiver.received.map(
        ({ path, bytes }) => `${path} ${read.get(path)?.read(bytes) ?? "nobody's"}`,
      );
      return { died, shown: [...new Set(shown)].toSorted() };
    }
    await clock.advance(LATER_MS);
  }
  throw new Error("It is never sent.");
}

test.each([true, false])(
  "a process that dies at any write leaves one notification per device (committed: %s)",
  async (committed) => {
    const message = JSON.stringify({ notice: "msg_1", confirmation: "adk-1", is: "requested" });
    for (let writes = 0; writes < MOST_WRITES; writes += 1) {
      const receiver = await new WebhookReceiver().listen();
      resources.add(() => receiver.close());
      receiver.answer = status(201);
      const { died, shown } = await tellThroughCrash(receiver, { writes, committed });
      expect({ writes, shown }).toEqual({ writes, shown: [`/desk ${message}`, `/phone ${message}`] });
      if (!died) return;
    }
    throw new Error("It writes more than expected.");
  },
);
