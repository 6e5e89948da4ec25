import { accountOf } from "./members.ts";
import type { SlackParts } from "./messages.ts";
import { isAddress, type SlackSettings } from "./slack-options.ts";

/** What the bot token must allow. History is read only to find a message after a crash. */
const SCOPES = ["chat:write", "im:write", "im:history"] as const;
/** One of them for a room: the first if it is public, the second if it is private. */
const ROOM_SCOPES = ["channels:history", "groups:history"] as const;
/** For people who are named by an e-mail address. */
const ADDRESS_SCOPES = ["users:read", "users:read.email"] as const;

/** What is wrong with the token, the workspace and the people, by asking Slack. */
export async function checkSlack(parts: SlackParts, signal: AbortSignal): Promise<readonly string[]> {
  const { api, settings } = parts;
  const { team, people } = settings;
  const who = await api.call("auth.test", {}, signal);
  if (!who.ok) {
    const advice = who.isDeadToken ? " The token is revoked, expired or wrong: install the app again." : "";
    return [`${who.reason}${advice}`];
  }
  const faults: string[] = [];
  const { team_id: theirs } = who.data;
  if (theirs !== team) faults.push(`The token belongs to a workspace other than ${team}.`);
  const missing = missingScopes(who.scopes, settings);
  if (missing.length > 0)
    faults.push(`The token lacks the scopes ${missing.join(", ")}: install the app again.`);
  for (const { id, slack } of people) {
    const found = await accountOf(parts, slack, signal);
    const opened = found.ok ? await api.call("conversations.open", { users: found.account }, signal) : found;
    if (!opened.ok) faults.push(`${id} cannot be reached as ${slack}: ${opened.reason}`);
  }
  return faults;
}

function missingScopes(
  scopes: readonly string[] | undefined,
  { room, people }: Pick<SlackSettings, "room" | "people">,
): readonly string[] {
  if (scopes === undefined) return [];
  const byAddress = people.some(({ slack }) => isAddress(slack)) ? ADDRESS_SCOPES : [];
  const missing: string[] = [...SCOPES, ...byAddress].filter((scope) => !scopes.includes(scope));
  const canReadRoom = room === undefined || ROOM_SCOPES.some((scope) => scopes.includes(scope));
  return canReadRoom ? missing : [...missing, ROOM_SCOPES.join(" or ")];
}
