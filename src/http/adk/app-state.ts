import { isEverybodys, type Principal } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { hasScope } from "../scopes.ts";

/**
 * Lets a request set state of its own session and user. State that all sessions of the app share may appear in
 * anybody's prompt, so it needs the scope `admin`; throws `forbidden` with the key.
 */
export function checkAppState(principal: Principal, state: object | null | undefined, field: string): void {
  const shared = Object.keys(state ?? {}).find(isEverybodys);
  if (shared === undefined || hasScope(principal, "admin")) return;
  throw new CountersignError(
    "forbidden",
    `${principal.id} may not set "${shared}", which is shared by all users.`,
    {
      details: {
        field: `${field}.${shared}`,
        hint: "Use a token with the scope admin, or let the agent set it.",
      },
    },
  );
}
