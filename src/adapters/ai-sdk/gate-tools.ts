import type { FlexibleSchema, ModelMessage, Tool, ToolApprovalStatus, ToolSet } from "ai";
import type { Acting, CallerOutcome } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { type ButtonResult, ThreadGate, type ThreadOptions } from "../thread-gate.ts";
import { checkRules, type GivenRule, ONLY_POLICY, type ToolRule } from "../tool-rule.ts";
import { type ApprovalOptions, GatedTool } from "./gated-tool.ts";
import { lastResponses, openRequests, withoutResponses } from "./messages.ts";
import { withSameInputs } from "./same-inputs.ts";
import { type Finding, lookingOnce, occurrenceIn, trusted } from "./trusted-messages.ts";

/** The arguments of a tool, as its function gets them. */
type InputOf<Given> = Given extends { readonly inputSchema: FlexibleSchema<infer Input> } ? Input : never;

/** Options of {@link gateTools}. */
export interface GateToolsOptions<Tools extends ToolSet> extends ThreadOptions {
  readonly tools: Tools;
  /**
   * When people are asked, by the tool's name. A tool with `needsApproval` and no rule is asked about as that says; any
   * other without a rule is not gated, unless the engine has a policy.
   */
  readonly rules?: { readonly [name in keyof Tools]?: GivenRule<InputOf<Tools[name]>> };
}

/** The messages to go on with, or what the conversation still waits for. */
export type Resumption =
  | { readonly ready: true; readonly messages: ModelMessage[] }
  /** Waiting for a decision, or for somebody to settle an unknown outcome. Empty if it waits for nothing of ours. */
  | { readonly ready: false; readonly waiting: readonly CallerOutcome[] };

/** Tools behind the gate, for one conversation. Make it for each request. */
export interface GatedTools<Tools extends ToolSet> {
  /** Give these to `generateText`, `streamText`, an agent and `convertToModelMessages`. */
  readonly tools: Tools;
  /** Give this along with the tools. */
  readonly toolApproval: {
    readonly [name in keyof Tools]?: (
      input: unknown,
      options: ApprovalOptions,
    ) => Promise<ToolApprovalStatus>;
  };
  /**
   * Records the approval responses in the last message as decisions of this person. The messages alone decide nothing:
   * call this only with a person whom your server has authenticated.
   */
  record(messages: readonly ModelMessage[], acting: Acting): Promise<readonly ButtonResult[]>;
  /**
   * The messages with the answers of the ledger, once every question is answered. Continue only with these: the AI SDK
   * believes a denial in a client's messages without asking anybody.
   */
  resume(messages: readonly ModelMessage[]): Promise<Resumption>;
  /** Withdraws every call of the conversation that has not started: the user moved on. Returns how many. */
  cancel(reason: string): Promise<number>;
}

const WAITING: ReadonlySet<CallerOutcome["status"]> = new Set(["pending", "unknown"]);
const REFUSED: ReadonlySet<CallerOutcome["status"]> = new Set(["denied", "expired", "cancelled"]);

// Each is called with the arguments of its own tool only.
interface Rules {
  readonly [name: string]: GivenRule<never> | undefined;
}

/** Puts tools of the AI SDK behind the gate: people are asked in the ledger, and an approved call runs at most once. */
export function gateTools<Tools extends ToolSet>(options: GateToolsOptions<Tools>): GatedTools<Tools> {
  const { tools, rules: given = {}, ...thread } = options;
  const rules: Rules = given;
  checkRules(rules, new Set(Object.keys(tools)));
  const gate = new ThreadGate(thread);
  const gated = new Map<string, GatedTool>();
  for (const [name, entry] of Object.entries(tools)) {
    // One of the kinds of tools that a set may have.
    const tool = entry as Tool;
    const rule = ruleOf(name, tool, { rule: rules[name], hasPolicy: gate.hasPolicy });
    if (rule !== undefined) gated.set(name, new GatedTool(gate, { name, tool, rule, gated }));
  }
  const wrapped = [...gated].map(([name, tool]) => [name, tool.wrapped] as const);
  const approvals = [...gated].map(([name, tool]) => {
    return [name, (input: unknown, about: ApprovalOptions) => tool.approval(input, about)] as const;
  });
  return {
    // The same tools with other functions in them.
    tools: { ...tools, ...Object.fromEntries(wrapped) },
    toolApproval: Object.fromEntries(approvals) as GatedTools<Tools>["toolApproval"],
    record: async (messages, acting) =>
      record(gate, { sent: messages, known: await trusted(gate, gated, messages) }, acting),
    resume: async (messages) => {
      const looking = lookingOnce(gate);
      return resume(looking, gated, await trusted(looking, gated, messages));
    },
    cancel: (reason) => gate.cancel(reason),
  };
}

function ruleOf(
  name: string,
  tool: Tool,
  { rule, hasPolicy }: { readonly rule: GivenRule<never> | undefined; readonly hasPolicy: boolean },
): ToolRule<unknown> | undefined {
  // Nothing runs here that could be gated.
  const runsElsewhere = tool.execute === undefined;
  if (rule !== undefined && runsElsewhere) {
    const message = `The tool "${name}" has no execute function, so there is nothing here to gate.`;
    throw new CountersignError("invalid-option", message);
  }
  if (runsElsewhere) return undefined;
  if (rule === true) return {};
  if (rule !== undefined) return rule as ToolRule<unknown>;
  const { needsApproval } = tool;
  if (needsApproval !== undefined && needsApproval !== false) return {};
  return hasPolicy ? ONLY_POLICY : undefined;
}

async function record(
  gate: ThreadGate,
  { sent, known }: { readonly sent: readonly ModelMessage[]; readonly known: readonly ModelMessage[] },
  acting: Acting,
): Promise<readonly ButtonResult[]> {
  const open = new Map(openRequests(known).map((request) => [request.approvalId, request]));
  const results: ButtonResult[] = [];
  for (const { approvalId, approved, reason } of lastResponses(sent)) {
    const request = open.get(approvalId);
    if (request === undefined) continue;
    const { toolCallId: id } = request;
    const occurrence = await occurrenceIn(gate, known, id);
    const button = { id, occurrence, approved, ...(reason === undefined ? {} : { reason }) };
    results.push(await gate.press(button, { via: "ai-sdk", ...acting }));
  }
  return results;
}

async function resume(
  gate: Finding,
  gated: ReadonlyMap<string, GatedTool>,
  messages: readonly ModelMessage[],
): Promise<Resumption> {
  const ours = openRequests(messages).filter(({ toolName }) => gated.has(toolName));
  const found = await Promise.all(
    ours.map(async (request) => {
      const { toolCallId: id } = request;
      const occurrence = await occurrenceIn(gate, messages, id);
      return { request, outcome: await gate.find({ id, occurrence }) };
    }),
  );
  const known = found.flatMap(({ request, outcome }) =>
    outcome === undefined ? [] : [{ request, outcome }],
  );
  const waiting = known.map(({ outcome }) => outcome).filter(({ status }) => WAITING.has(status));
  if (known.length === 0 || known.length < ours.length || waiting.length > 0)
    return { ready: false, waiting };
  const content = known.map(({ request: { approvalId }, outcome: { status, message } }) =>
    REFUSED.has(status)
      ? { type: "tool-approval-response" as const, approvalId, approved: false, reason: message }
      : { type: "tool-approval-response" as const, approvalId, approved: true },
  );
  const ids = new Set(ours.map(({ approvalId }) => approvalId));
  const asked = await withSameInputs(withoutResponses(messages, ids), gated);
  return { ready: true, messages: [...asked, { role: "tool", content }] };
}
