import { createHash } from "node:crypto";
import { type Ledger, mayJudge, type Principal } from "../engine/index.ts";
import { CountersignError } from "../protocol/index.ts";
import type { Channel, Told } from "./channel.ts";
import type { Serve } from "./inbound.ts";

const KIND = "channel-test";
const PAUSE_MS = 60_000;
const MOST_MS = 15_000;

/** Nobody has an address there. */
export const NO_ADDRESS: Told = { ok: false, reason: "Nobody can be reached there.", final: true };

/** Sends a harmless message to the person who asks for it, at most once a minute: `POST /channels/<channel>/test`. */
export function testRoute(
  { ledger, name }: { readonly ledger: Pick<Ledger, "items" | "now">; readonly name: string },
  sendTest: NonNullable<Channel["sendTest"]>,
): Serve {
  return async ({ method }, person) => {
    if (!mayJudge(person))
      throw new CountersignError(
        "forbidden",
        `${person.id} may not decide, so there is nothing to notify them about.`,
      );
    if (method !== "POST") throw new CountersignError("method-not-allowed", "This address takes POST.");
    if (!(await begin(ledger, name, person)))
      throw new CountersignError(
        "rate-limited",
        "A test message was sent a moment ago. Try again in a minute.",
      );
    const told = await sendTest(AbortSignal.timeout(MOST_MS), person.id);
    return { status: 200, json: told.ok ? { ok: true } : { ok: false, reason: reasonFor(person, told) } };
  };
}

/** False: one was sent a moment ago, by whichever process. */
async function begin(
  { items, now }: Pick<Ledger, "items" | "now">,
  channel: string,
  { id: person }: Principal,
): Promise<boolean> {
  const id = createHash("sha256")
    .update(JSON.stringify([channel, person]))
    .digest("hex");
  const { value, version = 0 } = (await items.get(KIND, id)) ?? {};
  if (typeof value === "number" && now < value + PAUSE_MS) return false;
  return items.put({ kind: KIND, id, value: now, expiresAt: now + PAUSE_MS }, version);
}

/** What a recipient's server answered is for administrators. */
function reasonFor({ scopes }: Principal, told: Exclude<Told, { readonly ok: true }>): string {
  if (told === NO_ADDRESS) return "You cannot be reached there. Ask an administrator to add you.";
  return scopes.includes("admin")
    ? told.reason
    : "It could not be sent. An administrator finds out why with `countersign channels test`.";
}
