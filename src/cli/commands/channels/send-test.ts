import type { Channel, Told } from "../../../channels/index.ts";
import { createPushChannel } from "../../../channels/push/index.ts";
import type { Ledger } from "../../../engine/index.ts";
import { CountersignError } from "../../../protocol/index.ts";
import { createLedger, inspectLedger } from "../../../stores/index.ts";
import { keptWebhookSecret } from "../../../webhooks/index.ts";
import { CHANNELS_FLAG, type ChannelSettings, readChannelSettings } from "../../channels/channel-settings.ts";
import { createChannels } from "../../channels/create-channels.ts";
import { type Command, type Invocation, LEDGER_FLAG } from "../../command.ts";
import { EXIT } from "../../exit-codes.ts";
import { inert, type Output } from "../../output.ts";
import { SERVE_FLAGS, settingOf } from "../../serving/serve-options.ts";
import { ledgerUrl } from "../../wiring.ts";

const MOST_MS = 30_000;
const NO_SECRET =
  "There is no secret yet, so this test was signed with one that nobody knows. Set COUNTERSIGN_WEBHOOK_SECRET, and give it to the receiver.";

/** What a test of a channel found. */
interface Tested {
  readonly channel: string;
  readonly ok: boolean;
  readonly faults: readonly string[];
}

export const channelsTest: Command = {
  usage: "[--channels FILE] [--webhook URL] [--db URL]",
  about:
    "Checks the tokens and the people of every configured channel, and sends a message that asks for nothing to everyone " +
    "who could get a real one. From the ledger it reads only the devices for push, if push is configured, and the webhook's secret, if COUNTERSIGN_WEBHOOK_SECRET is not set. It decides nothing. The exit code is 1 if something is wrong.",
  flags: {
    ...CHANNELS_FLAG,
    webhook: { ...SERVE_FLAGS["webhook"], type: "string", help: "the value that `serve` would use" },
    ...LEDGER_FLAG,
  },
  examples: [{ line: "channels test --channels channels.json", says: "tests every channel of that file" }],
  async run(invocation) {
    const { output, flags } = invocation;
    const { push, ...others } = readChannelSettings(invocation);
    const ledger = await createLedger("memory:");
    const needsLedger = push !== undefined || needsSecret(invocation);
    // Devices and the webhook's own secret are in the ledger; all other people are in the channels file.
    const stored = needsLedger ? await openStored(ledgerUrl(invocation), ledger) : ledger;
    try {
      const own = await channelsOf(invocation, others, { ledger, stored });
      const all = push === undefined ? own : [...own, createPushChannel({ ...push, ledger: stored })];
      if (all.length === 0) throw noChannels();
      const tested = await Promise.all(all.map(testOne));
      if (flags.has("json")) output.json({ channels: tested });
      else print(output, tested);
      return tested.every(({ ok }) => ok) ? EXIT.ok : EXIT.failed;
    } finally {
      await ledger.close();
      if (stored !== ledger) await stored.close();
    }
  },
};

function print(output: Output, tested: readonly Tested[]): void {
  for (const { channel, ok, faults } of tested) {
    const state = ok ? output.style("green", "ok") : output.style("red", "failed");
    output.line(`${state}  ${inert(channel)}`);
    for (const fault of faults) output.prose(inert(fault), "    ");
  }
}

/** Is there a webhook whose messages are signed with the ledger's own secret? */
function needsSecret(invocation: Invocation): boolean {
  return settingOf(invocation, "webhook") !== undefined && !invocation.env["COUNTERSIGN_WEBHOOK_SECRET"];
}

/** The channels that need no ledger. A webhook has the secret that `serve` would use, if there is one. */
async function channelsOf(
  invocation: Invocation,
  settings: ChannelSettings,
  { ledger, stored }: { readonly ledger: Ledger; readonly stored: Ledger },
): Promise<readonly Testable[]> {
  const webhook = settingOf(invocation, "webhook");
  const webhookSecret = needsSecret(invocation)
    ? await keptWebhookSecret(stored)
    : invocation.env["COUNTERSIGN_WEBHOOK_SECRET"];
  const { channels, siem, newSecret } = await createChannels(ledger, {
    channels: settings,
    ...(webhook === undefined ? {} : { webhook }),
    ...(webhookSecret ? { webhookSecret } : {}),
  });
  const all = newSecret === undefined ? channels : channels.map(withoutSecret);
  return siem === undefined ? all : [...all, siem];
}

/** Nobody knows the secret of its messages yet: a receiver that checks them refuses the test. */
function withoutSecret(channel: Testable): Testable {
  const { name, check, sendTest } = channel;
  if (name !== "webhook" || sendTest === undefined) return channel;
  const test = async (signal: AbortSignal): Promise<Told> => {
    const told = await sendTest(signal);
    return told.ok ? told : { ...told, reason: `${told.reason} ${NO_SECRET}` };
  };
  return { name, sendTest: test, ...(check === undefined ? {} : { check }) };
}

/** The ledger if there is one; nothing is created for a test. */
async function openStored(url: string, otherwise: Ledger): Promise<Ledger> {
  const { exists } = await inspectLedger(url);
  return exists ? createLedger(url, { migrate: false }) : otherwise;
}

type Testable = Pick<Channel, "name" | "check" | "sendTest">;

async function testOne(channel: Testable): Promise<Tested> {
  const signal = AbortSignal.timeout(MOST_MS);
  const found = (await channel.check?.(signal)) ?? [];
  const told: Told = (await channel.sendTest?.(signal)) ?? { ok: true };
  const faults = told.ok ? found : [...found, told.reason];
  return { channel: channel.name, ok: faults.length === 0, faults };
}

function noChannels(): CountersignError {
  return new CountersignError(
    "invalid-option",
    "No channel is configured. Use --channels FILE or --webhook URL.",
    {
      details: { field: "channels" },
    },
  );
}
