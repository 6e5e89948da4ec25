import type { Tool as ServerTool } from "@modelcontextprotocol/client";
import { type Approvers, OutcomeUnknown } from "../../engine/index.ts";
import { CountersignError, type JsonObject } from "../../protocol/index.ts";
import { type Tool, type ToolContext, tool } from "../../runtime/index.ts";
import { leavesOpen, type McpConnection, passedHeaders } from "../servers/index.ts";
import { isRepeatable } from "./annotations.ts";
import { duplicateMember, sameName } from "./folding.ts";
import { gateOf, type McpConfirmation } from "./policy.ts";
import { failureText, toResult } from "./result.ts";

/** What is needed to turn a server's tools into ours. */
export interface ServerFacts {
  readonly connection: McpConnection;
  /** The toolset's name, which people see. */
  readonly server: string;
  /** Where the server is; part of what an approval is bound to. */
  readonly place: string;
  readonly prefix: string;
  readonly confirmation: McpConfirmation;
  readonly requireApproval: readonly string[];
  /** Request headers that are sent with its calls. */
  readonly allowedHeaders: readonly string[];
  readonly timeoutMs: number;
  /** How people are asked about its calls. */
  readonly asking: { readonly approvers?: Approvers; readonly expiresInMs?: number };
}

/** A server's tool as ours: the same name and schema, gated here, run there. */
export function toTool(facts: ServerFacts, given: ServerTool): Tool {
  const name = facts.prefix + given.name;
  const trusted = facts.confirmation === "destructive";
  const repeatable = trusted && isRepeatable(given.annotations);
  const made = tool({
    name,
    description: given.description ?? "",
    parameters: given.inputSchema as JsonObject,
    requireConfirmation: gateOf(facts.confirmation, given),
    readOnly: repeatable,
    ...facts.asking,
    execute: (args: JsonObject, ctx) => call(facts, given.name, { args, ctx, repeatable }),
  });
  const approval = sameName(facts.requireApproval, given.name);
  return {
    ...made,
    source: facts.prefix === "" ? facts.server : `${facts.server}: ${given.name}`,
    definition: {
      ...made.definition,
      ...(given.annotations === undefined ? {} : { annotations: given.annotations as JsonObject }),
      server: facts.server,
      place: facts.place,
    },
    parse: async (args) => {
      const twin = duplicateMember(args);
      return twin === undefined ? made.parse(args) : { ok: false, field: twin, message: TWIN };
    },
    gates: async (args, context) => {
      const own = (await made.gates(args, context)).map(() => "mcp" as const);
      return approval ? [...own, "manifest"] : own;
    },
  };
}

const TWIN = "differs only in case from another member; send only one of them";

interface Entry {
  readonly args: JsonObject;
  readonly ctx: ToolContext<unknown>;
  readonly repeatable: boolean;
}

async function call(facts: ServerFacts, name: string, { args, ctx, repeatable }: Entry): Promise<unknown> {
  const { connection, server, timeoutMs } = facts;
  const headers = headersFor(facts, name, ctx);
  await connection.ready().catch((error: unknown) => {
    throw new CountersignError(
      "internal",
      `${server} could not be reached, so ${name} was not called: ${textOf(error)}`,
      {
        cause: error,
      },
    );
  });
  try {
    const { signal } = ctx;
    const onProgress = ctx.progress.bind(ctx);
    const result = await connection.callTool(name, args, { signal, timeoutMs, onProgress, headers });
    if (result.isError === true) throw new ReportedFailure(failureText(result));
    return toResult(result);
  } catch (error) {
    if (error instanceof ReportedFailure || repeatable || !leavesOpen(error)) throw error;
    throw new OutcomeUnknown(`${name} was sent to ${server}, but the answer was lost: ${textOf(error)}`);
  }
}

function headersFor({ allowedHeaders, server }: ServerFacts, name: string, ctx: ToolContext<unknown>) {
  try {
    return passedHeaders(allowedHeaders, ctx);
  } catch (error) {
    throw new CountersignError("internal", `${name} of ${server} was not called: ${textOf(error)}.`);
  }
}

/** The server reported that the tool failed. */
class ReportedFailure extends Error {}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
