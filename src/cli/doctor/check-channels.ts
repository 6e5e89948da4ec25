import { CountersignError } from "../../protocol/index.ts";
import { createLedger } from "../../stores/index.ts";
import { readChannelSettings } from "../channels/channel-settings.ts";
import { createChannels } from "../channels/create-channels.ts";
import type { Invocation } from "../command.ts";
import { type Finding, fail, ok } from "./finding.ts";

const MOST_MS = 10_000;
const ADVICE = "See the guides on Slack and e-mail. `countersign channels test` sends a harmless message.";
const SIEM_ADVICE = "See the guide on SIEM. Until it can be written, records wait in the ledger.";

/** The channels that `serve` would use: their settings, and what their media say of tokens and people. */
export async function checkChannels(invocation: Invocation): Promise<readonly Finding[]> {
  try {
    const settings = readChannelSettings(invocation);
    // Nothing is stored: the ledger is not needed to ask whether a token is still valid.
    const ledger = await createLedger("memory:");
    try {
      const { channels, siem } = await createChannels(ledger, { channels: settings });
      const findings: Finding[] = [];
      for (const channel of channels) {
        const { name } = channel;
        const faults = (await channel.check?.(AbortSignal.timeout(MOST_MS))) ?? [];
        if (faults.length === 0) findings.push(ok(name, "reachable, and so are its people"));
        else findings.push(...faults.map((fault) => fail(name, fault, ADVICE)));
      }
      const faults = (await siem?.check?.(AbortSignal.timeout(MOST_MS))) ?? [];
      if (siem !== undefined && faults.length === 0) findings.push(ok(siem.name, "can be written"));
      findings.push(...faults.map((fault) => fail(siem?.name ?? "", fault, SIEM_ADVICE)));
      return findings;
    } finally {
      await ledger.close();
    }
  } catch (error) {
    if (!CountersignError.isInstance(error)) throw error;
    return [fail("channels", error.message, "`countersign serve` does not start with this.")];
  }
}
