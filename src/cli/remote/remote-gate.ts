import { readFileSync } from "node:fs";
import { type Client, createClient } from "../../client/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import type { Flags, Invocation } from "../command.ts";

/** For commands that ask a running server. */
export const REMOTE_FLAGS: Flags = {
  url: { type: "string", value: "URL", help: "the server (COUNTERSIGN_URL)" },
  "token-file": {
    type: "string",
    value: "FILE",
    help: "a file with a token of scope propose (COUNTERSIGN_TOKEN is the token itself)",
  },
  app: { type: "string", value: "NAME", help: "the app's name in the inbox and in policies" },
  "trust-policy": {
    type: "boolean",
    help: "allow calls that the server's policy does not ask about, without asking a person",
  },
};

/** A server, and how calls are named there. */
export interface RemoteGate {
  readonly client: Pick<Client, "calls">;
  readonly app: string;
  /** Calls run without a person where the policy does not ask. */
  readonly trustsPolicy: boolean;
}

/** The server from flags and environment. Throws `invalid-option` for a missing or wrong one. */
export function openRemoteGate({ flags, env }: Invocation, usualApp: string): RemoteGate {
  const url = flags.text("url") ?? env["COUNTERSIGN_URL"];
  if (!url) throw invalid("url", "No server is set. Use --url URL or COUNTERSIGN_URL.");
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
    throw invalid("url", `Invalid --url "${url}". Use an address such as http://localhost:8000.`);
  return {
    client: createClient({
      baseUrl: url,
      token: tokenOf(flags.text("token-file"), env["COUNTERSIGN_TOKEN"]),
    }),
    app: flags.text("app") ?? usualApp,
    trustsPolicy: flags.has("trust-policy"),
  };
}

function tokenOf(file: string | undefined, given: string | undefined): string {
  const token = file === undefined ? given : readToken(file);
  // A newline at its end would make it an invalid header.
  const trimmed = token?.trim();
  if (trimmed) return trimmed;
  throw invalid("token-file", "There is no token. Use --token-file FILE or COUNTERSIGN_TOKEN.");
}

function readToken(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CountersignError("invalid-option", `Cannot read --token-file "${file}".`, {
      cause: error,
      details: { field: "token-file" },
    });
  }
}

function invalid(field: string, message: string): CountersignError {
  return new CountersignError("invalid-option", message, { details: { field } });
}
