import type { Principal, PrincipalInput } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import type { AppOptions, Authenticate } from "../app-options.ts";
import { USUAL_SCOPES } from "../scopes.ts";
import type { Auth } from "./auth.ts";
import { noAuth } from "./no-auth.ts";
import { flawOfUserId } from "./user-id.ts";

/** Which login an app has: its own, the host program's, or none. Throws `invalid-option` if both are given. */
export function authOf({ auth, authenticate }: Pick<AppOptions, "auth" | "authenticate">): Auth {
  if (authenticate === undefined) return auth ?? noAuth;
  if (auth === undefined) return hostAuth(authenticate);
  throw new CountersignError("invalid-option", "`auth` and `authenticate` cannot be combined. Remove one.");
}

function hostAuth(authenticate: Authenticate): Auth {
  return {
    name: "host",
    authenticate: async (request) => {
      const input = await authenticate(request);
      return input === undefined ? undefined : toKnown(input);
    },
  };
}

// Somebody who logged in to the host is a specific person, not "whoever is at this machine"; hence the kind.
function toKnown(input: PrincipalInput): Principal | undefined {
  if (typeof (input.id as unknown) !== "string" || input.id === "") return undefined;
  const { kind = "token" } = input;
  const flaw = kind === "token" || kind === "oidc" ? flawOfUserId(input.id) : undefined;
  if (flaw !== undefined)
    throw new CountersignError(
      "invalid-option",
      `\`authenticate\` returned the user id "${input.id}", which ${flaw}.`,
    );
  const known = { roles: [], scopes: USUAL_SCOPES, authenticated: true, ...input, kind };
  checkTexts("roles", known.roles);
  checkTexts("scopes", known.scopes);
  return known;
}

// Plain JavaScript may pass a string, in which any substring would count as a scope.
function checkTexts(name: string, value: unknown): void {
  if (Array.isArray(value) && value.every((entry) => typeof entry === "string")) return;
  throw new CountersignError(
    "invalid-option",
    `\`authenticate\` returned \`${name}\` that is not a list of strings.`,
  );
}
