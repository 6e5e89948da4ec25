import { type AuthorGate, meets, refuseUnknown } from "../../engine/index.ts";
import type { AnyAgent } from "../agents/index.ts";
import { isAgentTool } from "./agent-tool.ts";
import type { ConfirmationPredicate, Tool } from "./tool.ts";

/** A group of tools. `tools()` is called before every model call, so a set may change. */
export interface Toolset {
  readonly name: string;
  tools(): Promise<readonly Tool[]>;
  /** The agents among its tools, if any: their runs may have to continue before the set is asked. */
  readonly agents?: readonly AnyAgent[];
  /** Names of request headers that its tools need as `ctx.requestHeaders`. */
  readonly requestHeaders?: readonly string[];
  close?(): Promise<void>;
}

/** A fixed set of tools. */
export function toolset(name: string, tools: readonly Tool[]): Toolset {
  const agents = tools.flatMap((member) => (isAgentTool(member) ? [member.delegate] : []));
  return { name, tools: async () => tools, ...(agents.length === 0 ? {} : { agents }) };
}

const KNOWN_OPTIONS: ReadonlySet<string> = new Set(["when", "gate"]);

/** The same tools, each behind a confirmation. The originals are not changed. */
export function withConfirmation(
  inner: Toolset,
  options: { readonly when?: boolean | ConfirmationPredicate<unknown>; readonly gate?: AuthorGate } = {},
): Toolset {
  refuseUnknown("withConfirmation", options, KNOWN_OPTIONS);
  const { when = true, gate = "toolset" } = options;
  const { name, agents, requestHeaders } = inner;
  return {
    name,
    ...(agents === undefined ? {} : { agents }),
    ...(requestHeaders === undefined ? {} : { requestHeaders }),
    ...(inner.close === undefined ? {} : { close: async () => inner.close?.() }),
    tools: async () => (await inner.tools()).map((original) => gated(original, when, gate)),
  };
}

// Member by member: a class has some members on its prototype, where a copy would not find them.
function gated(original: Tool, when: boolean | ConfirmationPredicate<unknown>, gate: AuthorGate): Tool {
  const {
    name,
    description,
    parameters,
    definition,
    confirmation,
    repeatable,
    isLongRunning,
    secrets,
    source,
  } = original;
  return {
    name,
    description,
    ...(parameters === undefined ? {} : { parameters }),
    definition,
    confirmation,
    repeatable,
    isLongRunning,
    secrets,
    ...(source === undefined ? {} : { source }),
    ...(isAgentTool(original) ? { delegate: original.delegate } : {}),
    ...(original.credentials === undefined
      ? {}
      : { credentials: (args, context) => original.credentials?.(args, context) }),
    parse: (args) => original.parse(args),
    run: (args, context) => original.run(args, context),
    gates: async (args, context) => {
      const own = await original.gates(args, context);
      return (await meets(when, args, context)) ? [...own, gate] : own;
    },
  };
}
