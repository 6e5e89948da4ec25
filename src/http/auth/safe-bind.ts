import { CountersignError } from "../../protocol/index.ts";
import type { Auth } from "./auth.ts";

/** Is this a name of this machine that no other can reach? */
export function isLoopback(hostname: string): boolean {
  const name = hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");
  return (
    name === "localhost" ||
    name.endsWith(".localhost") ||
    name === "::1" ||
    /^127(?:\.\d{1,3}){3}$/.test(name) ||
    /^::ffff:127(?:\.\d{1,3}){3}$/.test(name)
  );
}

/** Throws `invalid-option` where a server without a login would be reachable from other machines. */
export function assertSafeBind(host: string, auth: Pick<Auth, "name">, publicUrl?: string): void {
  if (auth.name !== "none") return;
  const advice = "use --auth local, tokens or oidc";
  if (!isLoopback(host)) {
    throw new CountersignError(
      "invalid-option",
      `Without a login the server listens on loopback only, not on "${host}": ${advice}, or --host 127.0.0.1.`,
      { details: { field: "host" } },
    );
  }
  if (publicUrl === undefined || isLoopback(new URL(publicUrl).hostname)) return;
  throw new CountersignError(
    "invalid-option",
    `Without a login the server is for this machine only, but "${publicUrl}" can be reached by others: ${advice}.`,
    { details: { field: "public-url" } },
  );
}
