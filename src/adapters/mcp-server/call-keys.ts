import { type Engine, partsOf, valueDigest } from "../../engine/index.ts";
import { isJsonObject, type JsonObject, member } from "../../protocol/index.ts";
import type { FrameworkCallId } from "../thread-gate.ts";

/** Which call a request is. */
export interface McpCallId extends FrameworkCallId {
  /** Marks it as told: the same arguments are then a new call. False: somebody else was first. */
  readonly done: () => Promise<boolean>;
}

const KIND = "mcp-server-call";

/** The call that the client itself has named: it is the same call of its user for ever. */
export function namedCall(callId: string, user: string | undefined): McpCallId {
  return { id: `id:${JSON.stringify([user ?? null, callId])}`, done: async () => true };
}

/**
 * MCP clients send no id that a repeated call keeps. So the same tool with the same arguments is the same call of its
 * user and thread until its outcome was told. Kept in the ledger, so that it survives a restart.
 */
export async function callOfArguments(
  engine: Engine,
  call: {
    readonly app: string;
    readonly thread: string;
    readonly user: string | undefined;
    readonly tool: string;
    /** What tells the call from others of its tool. */
    readonly args: JsonObject;
  },
): Promise<McpCallId> {
  const { items, digestKey } = partsOf(engine).ledger;
  const { app, thread, user = null, tool, args } = call;
  const digest = valueDigest(digestKey, [app, thread, user, tool, args]);
  const kept = await items.get(KIND, digest);
  const told = isJsonObject(kept?.value) ? member(kept.value, "told") : undefined;
  const occurrence = typeof told === "number" ? told : 0;
  return {
    id: `args:${tool}:${digest}`,
    occurrence,
    done: () => items.put({ kind: KIND, id: digest, value: { told: occurrence + 1 } }, kept?.version ?? 0),
  };
}
