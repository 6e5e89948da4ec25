import type { JsonObject, JsonValue } from "../../protocol/index.ts";
import type { Form, ParseOutcome, PayloadReading, ToolDefinition } from "../common/index.ts";
import type { CardLayout } from "../ledger/index.ts";
import type { Approvers } from "../people/index.ts";
import type { AskingOptions } from "./asking-options.ts";

/** Who is asking and where: what a predicate may look at. */
export interface GateContext {
  readonly agentName: string;
  readonly userId: string;
  readonly sessionId: string;
}

/** How people are asked about a tool's calls. */
export interface ConfirmationRules {
  readonly approvers: Approvers;
  /** Who is asked where the requester would be, if that is an agent: an agent may not approve. */
  readonly insteadOfRequester?: Approvers;
  readonly expiresInMs?: number;
  readonly amendable?: true | readonly string[];
  readonly onDenied?: "invoke";
  /** JSON Schema of an approval's payload. */
  readonly payloadSchema?: JsonObject;
  /** The payload that the function gets, parsed with the author's schema. Default: as it was sent. */
  readonly readPayload?: (sent: JsonValue) => Promise<PayloadReading>;
  readonly layout?: CardLayout;
  hint(args: unknown): string | undefined;
}

/** Where a tool's gate came from; an `allow` rule does not remove any of these. */
export type AuthorGate = "tool" | "toolset" | "manifest" | "mcp" | "remote";

/** A tool as the gate sees it, wherever its calls come from. */
export interface GatedTool {
  readonly name: string;
  /** JSON Schema of the arguments. */
  readonly parameters?: JsonObject;
  readonly definition: ToolDefinition;
  readonly confirmation: ConfirmationRules;
  /** May be started again after a crash. */
  readonly repeatable: boolean;
  readonly secrets: readonly string[];
  /** MCP server or remote agent, as people are shown it. Rules match the definition's `server`. */
  readonly source?: string;
  parse(args: JsonObject): ParseOutcome<unknown> | Promise<ParseOutcome<unknown>>;
  /** The author's gates that apply to this call. A predicate that throws applies. */
  gates(args: unknown, context: GateContext): readonly AuthorGate[] | Promise<readonly AuthorGate[]>;
}

/** Turns an author's options into the rules for the tool's confirmations. */
export function toConfirmationRules(
  options: AskingOptions & {
    readonly confirmationHint?: string | ((args: never) => string);
    readonly confirmationLayout?: CardLayout;
  },
  form: Form | undefined,
): ConfirmationRules {
  const { confirmationHint: hint, expiresInMs, amendable, onDenied, confirmationLayout: layout } = options;
  return {
    approvers: options.approvers ?? "requester",
    ...(expiresInMs === undefined ? {} : { expiresInMs }),
    ...(amendable === undefined ? {} : { amendable }),
    ...(onDenied === undefined ? {} : { onDenied }),
    ...(form === undefined ? {} : { payloadSchema: form.jsonSchema, readPayload: form.read }),
    ...(layout === undefined ? {} : { layout }),
    hint: (args) => (typeof hint === "function" ? hint(args as never) : hint),
  };
}

/** Does the gate apply to the call? Anything except `false`, and any error, means yes. */
export async function meets<Args>(
  gate: boolean | ((args: Args, context: GateContext) => boolean | Promise<boolean>) | undefined,
  args: Args,
  context: GateContext,
): Promise<boolean> {
  if (gate === undefined || typeof gate === "boolean") return gate ?? false;
  try {
    const answer: unknown = await gate(args, context);
    return answer !== false;
  } catch {
    return true;
  }
}
