import { createLedger } from "../../index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { readChannelSettings } from "../channels/channel-settings.ts";
import { createChannels } from "../channels/create-channels.ts";
import type { Invocation } from "../command.ts";
import { type Finding, fail, ok } from "./finding.ts";

const MOST_MS = 10_000;
const ADVICE = "See the guides on Slack and e-mail. `countersign channels test` sends a harmless message.";

/** The channels that `serve` would use: their settings, and what their media say of tokens and people. */
export async function checkChannels(invocation: Invocation): Promise<readonly Finding[]> {
  try {
    const settings = readChannelSettings(invocation);
    // Nothing is stored: the ledger is not needed to ask whether a token is still valid.
    const ledger = await createLedger("memory:");
    try {
      const { channels } = await createChannels(ledger, { channels: settings });
      const findings: Finding[] = [];
      for (const channel of channels) {
        const { name } = channel;
        const faults = (await channel.check?.(AbortSignal.timeout(MOST_MS))) ?? [];
        if (faults.length === 0) findings.push(ok(name, "reachable, and so are its people"));
        else findings.push(...faults.map((fault) => fail(name, fault, ADVICE)));
      }
      return findings;
    } finally {
      await ledger.close();
    }
  } catch (error) {
    if (!CountersignError.isInstance(error)) throw error;
    return [fail("channels", error.message, "`countersign serve` does not start with this.")];
  }
}
