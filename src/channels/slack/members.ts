import { isJsonObject, type JsonObject } from "../../protocol/index.ts";
import type { SlackAnswer } from "./api.ts";
import type { SlackParts } from "./messages.ts";
import { isAddress, type SlackPerson, spelled } from "./slack-options.ts";

/** Slack waits three seconds for the answer to a press: the rest is for the decision, or for a dialog. */
const MOST_MS = 1_000;
const NOBODY: ReadonlySet<string> = new Set(["user_not_found", "user_not_visible"]);
/** Slack says these of every member. */
const ALWAYS = ["deleted", "is_bot", "is_restricted", "is_ultra_restricted"] as const;
/** Slack says these of some. */
const SOMETIMES = ["is_stranger", "is_invited_user", "is_workflow_bot", "is_connector_bot"] as const;

/** Who pressed: a person of the configuration, or nobody in it, or Slack did not say in time. */
export type Presser = SlackPerson | "stranger" | "unknown";

type Asking = Pick<SlackParts, "api" | "settings">;

/**
 * The person with this member id, or with the address that Slack has confirmed for it. Slack is asked each time: an address
 * can go to somebody else.
 */
export async function presserOf(
  { api, settings: { people, team } }: Asking,
  user: string,
  signal: AbortSignal,
): Promise<Presser> {
  const known = people.find(({ slack }) => slack === user);
  if (known !== undefined) return known;
  const byAddress = people.filter(({ slack }) => isAddress(slack));
  if (byAddress.length === 0) return "stranger";
  const answer = await api.call(
    "users.info",
    { user },
    AbortSignal.any([signal, AbortSignal.timeout(MOST_MS)]),
  );
  if (!answer.ok) return NOBODY.has(answer.error) ? "stranger" : "unknown";
  const member = memberIn(answer.data, team);
  if (member?.id !== user) return "stranger";
  return byAddress.find(({ slack }) => slack === member.address) ?? "stranger";
}

/** The member id of a person in the configuration. Slack's answer, if it is not known. */
export async function accountOf(
  { api, settings: { team } }: Asking,
  target: string,
  signal: AbortSignal,
): Promise<{ readonly ok: true; readonly account: string } | Exclude<SlackAnswer, { readonly ok: true }>> {
  if (!isAddress(target)) return { ok: true, account: target };
  const answer = await api.call("users.lookupByEmail", { email: target }, signal);
  if (!answer.ok) return answer;
  const member = memberIn(answer.data, team);
  return member?.address === target ? { ok: true, account: member.id } : UNCONFIRMED;
}

const UNCONFIRMED = {
  ok: false,
  error: "not_confirmed",
  reason:
    "Slack has no full member of the workspace with exactly this confirmed address. Use the member id, or the address as Slack spells it.",
  isUnsure: false,
  isTemporary: false,
  isDeadToken: false,
} as const;

/** A full member of the workspace, and the address that they have confirmed. What Slack leaves out counts against them. */
function memberIn(
  { user }: JsonObject,
  team: string,
): { readonly id: string; readonly address: string } | undefined {
  if (!isJsonObject(user) || user["team_id"] !== team || user["is_email_confirmed"] !== true)
    return undefined;
  if (!ALWAYS.every((word) => user[word] === false)) return undefined;
  if (!SOMETIMES.every((word) => (user[word] ?? false) === false)) return undefined;
  const { id, profile } = user;
  const email = isJsonObject(profile) ? profile["email"] : undefined;
  if (typeof id !== "string" || typeof email !== "string" || !isAddress(email)) return undefined;
  return { id, address: spelled(email) };
}
