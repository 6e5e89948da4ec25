import { join } from "node:path";
import type { Notice } from "../../../src/channels/index.ts";
import {
  Engine,
  type Ledger,
  ManualClock,
  type Policy,
  type PolicyVerdict,
  putNotificationSettings,
} from "../../../src/engine/index.ts";
import { createLedger } from "../../../src/stores/index.ts";
import type { Resources } from "../resources.ts";

const NIGHT_AT = Date.UTC(2026, 0, 1, 23);
const MORNING_MS = 8 * 3_600_000;

/** Questions that were asked in somebody's quiet hours, which are over. */
export interface HeldQuestions {
  readonly clock: ManualClock;
  readonly ledger: Ledger;
  readonly engine: Engine;
  /** One for each, as the outbox tells it. */
  readonly notices: readonly Notice[];
}

function askAna(): PolicyVerdict {
  return { outcome: "confirm", reason: "all", approvers: { users: ["ana"] } };
}

/** Asks ana for the tools at night; now it is morning. */
export async function holdQuestions(
  resources: Resources,
  tools: readonly string[],
  policy: Policy = askAna,
): Promise<HeldQuestions> {
  const clock = new ManualClock(NIGHT_AT);
  const ledger = await createLedger(`sqlite:${join(await resources.folder(), "ledger.db")}`, { clock });
  resources.add(() => ledger.close());
  for (const channel of ["email", "slack"]) await ledger.outbox.channelPlace(channel);
  const quiet = { timeZone: "UTC", from: "22:00", to: "07:00" };
  await putNotificationSettings(ledger.items, "ana", { off: [], quiet });
  const engine = new Engine({ ledger, clock, policy });
  const notices: Notice[] = [];
  for (const tool of tools) {
    const asked = await engine.gate(tool, {}, async () => 1)({}, { key: tool, by: { id: "rita" } });
    if (asked.status !== "pending") throw new Error(`It is ${asked.status}.`);
    const { confirmation: about } = asked;
    const sequence = notices.length + 1;
    const link = linkFor(about.id);
    const made = {
      type: "confirmation.requested",
      sequence,
      revision: 1,
      at: NIGHT_AT,
      about,
      link,
      linkFor,
    } as const;
    notices.push({ id: `msg_${tool}`, ...made });
  }
  await clock.advance(MORNING_MS);
  return { clock, ledger, engine, notices };
}

function linkFor(id: string): string {
  return `https://approvals.example/#/confirmations/${id}`;
}
