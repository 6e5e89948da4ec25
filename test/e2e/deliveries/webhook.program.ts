import { type DeliverySettings, startDeliveries } from "../../../src/channels/index.ts";
import { createWebhookChannel } from "../../../src/channels/webhook/index.ts";
import { createEngine } from "../../../src/index.ts";
import type { Line } from "../../support/processes/child.ts";
import { listen, programOptions, say } from "../../support/processes/program.ts";

/** How the program is started. */
export interface TellerOptions extends Partial<DeliverySettings> {
  readonly ledger: string;
  readonly url: string;
  readonly secret: string;
}

/** What the test says to it. */
export type TellerTask = { readonly do: "ask"; readonly keys: readonly string[] } | { readonly do: "stop" };

/** What it says to the test. */
export type TellerLine =
  | (Line & { readonly type: "ready" })
  | (Line & { readonly type: "asked"; readonly ids: readonly string[] })
  | (Line & { readonly type: "failed"; readonly reason: string; readonly dead: boolean })
  | (Line & { readonly type: "stopped" });

const { ledger, url, secret, ...settings } = programOptions() as TellerOptions;
const engine = await createEngine({ ledger: `sqlite:${ledger}` });
const pay = engine.gate("pay", { requireConfirmation: true }, async () => 1);
const deliveries = startDeliveries({
  ledger: engine.ledger,
  channels: [createWebhookChannel({ url, secrets: [secret] })],
  link: (id) => `https://approvals.example/#/confirmations/${id}`,
  onFailure: ({ reason, dead }) => say({ type: "failed", reason, dead } as Line),
  ...settings,
});

async function ask(keys: readonly string[]): Promise<void> {
  const ids: string[] = [];
  for (const key of keys) {
    const asked = await pay({ to: key }, { key, by: { id: "ana" } });
    if (asked.status === "pending") ids.push(asked.confirmation.id);
  }
  say({ type: "asked", ids } as Line);
}

async function act(task: TellerTask): Promise<void> {
  if (task.do === "ask") return ask(task.keys);
  await deliveries.stop();
  say({ type: "stopped" });
}

listen((message) => {
  const task = message as TellerTask;
  act(task).catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.kill(process.pid);
  });
});
// Where it begins is settled before anything is asked.
await engine.ledger.outbox.channelPlace("webhook");
say({ type: "ready" });
