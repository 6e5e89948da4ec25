import type { SlackParts } from "./messages.ts";

/** What the bot token must allow. History is read only to find a message after a crash. */
const SCOPES = ["chat:write", "im:write", "im:history"] as const;

/** What is wrong with the token, the workspace and the people, by asking Slack. */
export async function checkSlack(
  { api, settings }: SlackParts,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { team, people } = settings;
  const who = await api.call("auth.test", {}, signal);
  if (!who.ok) {
    const advice = who.isDeadToken ? " The token is revoked, expired or wrong: install the app again." : "";
    return [`${who.reason}${advice}`];
  }
  const faults: string[] = [];
  const { team_id: theirs } = who.data;
  if (theirs !== team) faults.push(`The token is of another workspace than ${team}.`);
  const missing = who.scopes === undefined ? [] : SCOPES.filter((scope) => !who.scopes?.includes(scope));
  if (missing.length > 0)
    faults.push(`The token lacks the scopes ${missing.join(", ")}: install the app again.`);
  for (const { id, slack } of people) {
    const opened = await api.call("conversations.open", { users: slack }, signal);
    if (!opened.ok) faults.push(`${id} cannot be reached as ${slack}: ${opened.reason}`);
  }
  return faults;
}
