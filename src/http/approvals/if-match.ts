import type { Context } from "hono";
import { CountersignError } from "../../protocol/index.ts";
import type { HttpEnv } from "../env.ts";

/** The version that the caller saw, from the body or the `If-Match` header; they must agree. */
export function ifMatch(context: Context<HttpEnv>, inBody: number | undefined): number | undefined {
  const header = context.req.header("If-Match");
  if (header === undefined || header === "*") return inBody;
  const [, digits] = /^(?:W\/)?"?(\d{1,15})"?$/.exec(header.trim()) ?? [];
  const version = digits === undefined ? undefined : Number(digits);
  if (version !== undefined && (inBody === undefined || inBody === version)) return version;
  const message =
    version === undefined
      ? `If-Match is ${JSON.stringify(header)}. It must be a version, for example "3".`
      : `If-Match says version ${version}, but the body says ${inBody}.`;
  throw new CountersignError("malformed-request", message, { details: { field: "If-Match" } });
}
