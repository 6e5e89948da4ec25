import type { Channel, Told } from "../../channels/index.ts";
import { createLedger } from "../../index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { CHANNELS_FLAG, readChannelSettings } from "../channels/channel-settings.ts";
import { createChannels } from "../channels/create-channels.ts";
import type { Command } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { inert } from "../output.ts";
import { SERVE_FLAGS, settingOf } from "../serving/serve-options.ts";

const MOST_MS = 30_000;

/** What a test of a channel found. */
interface Tested {
  readonly channel: string;
  readonly ok: boolean;
  readonly faults: readonly string[];
}

export const channelsTest: Command = {
  name: "channels test",
  summary: "send a harmless message through every channel, and say what is wrong",
  usage: "[--channels FILE] [--webhook URL]",
  about:
    "Checks the tokens and the people of every configured channel, and sends a message that asks for nothing to everyone " +
    "who could get a real one. It reads no ledger and decides nothing. The exit code is 1 if something is wrong.",
  flags: {
    ...CHANNELS_FLAG,
    webhook: { ...SERVE_FLAGS["webhook"], type: "string", help: "the value that `serve` would use" },
  },
  examples: [{ line: "channels test --channels channels.json", says: "tests every channel of that file" }],
  async run(invocation) {
    const { output, flags, env } = invocation;
    const webhook = settingOf(invocation, "webhook");
    const webhookSecret = env["COUNTERSIGN_WEBHOOK_SECRET"];
    const ledger = await createLedger("memory:");
    try {
      const { channels, siem } = await createChannels(ledger, {
        channels: readChannelSettings(invocation),
        ...(webhook === undefined ? {} : { webhook }),
        ...(webhookSecret ? { webhookSecret } : {}),
      });
      const all: readonly Testable[] = siem === undefined ? channels : [...channels, siem];
      if (all.length === 0) throw noChannels();
      const tested = await Promise.all(all.map(testOne));
      if (flags.has("json")) output.json({ channels: tested });
      for (const { channel, ok, faults } of flags.has("json") ? [] : tested) {
        const state = ok ? output.style("green", "ok") : output.style("red", "failed");
        output.line(`${state}  ${inert(channel)}`);
        for (const fault of faults) output.prose(inert(fault), "    ");
      }
      return tested.every(({ ok }) => ok) ? EXIT.ok : EXIT.failed;
    } finally {
      await ledger.close();
    }
  },
};

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
