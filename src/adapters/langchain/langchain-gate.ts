import type { RunnableConfig } from "@langchain/core/runnables";
import { StructuredTool } from "@langchain/core/tools";
import { Command } from "@langchain/langgraph";
import type { Acting, CallerOutcome, Engine } from "../../engine/index.ts";
import { CountersignError, isJsonObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import { type ButtonResult, ThreadGate } from "../thread-gate.ts";
import { checkRules, type GivenRule, ONLY_POLICY, type ToolRule } from "../tool-rule.ts";
import { GatedTool, type GateOf } from "./gated-tool.ts";
import { type OpenPause, openPauses, readPressed } from "./pause.ts";

/** Which conversation a run belongs to, as the program around the graph knows it. */
export interface Conversation {
  /** Your server must have checked that the user may use it. */
  readonly thread: string;
  /** Whom the agent works for, as your server has authenticated them. */
  readonly user?: string;
  /** Names the model's message. Default: its id in the graph's `messages`. */
  readonly turn?: string;
}

/** Options of {@link createGate}. */
export interface LangChainGateOptions {
  readonly engine: Engine;
  /** The app that its calls are listed under. */
  readonly app: string;
  /** Which conversation a run belongs to, by its `configurable`. Default: the thread is `thread_id`. */
  readonly identify?: (configurable: { readonly [name: string]: unknown }) => Conversation;
}

/** The arguments of a tool, as its function gets them; of a tool that takes one text, `{ input }`. */
type ArgsOf<Tool> = Tool extends { func: (input: infer Input, ...rest: never[]) => unknown }
  ? Input extends string
    ? { readonly input: Input }
    : Input
  : JsonObject;

type Named<Tools extends readonly unknown[]> = Extract<Tools[number], { readonly name: string }>;

/** When people are asked, by the tool's name. */
export type RulesOf<Tools extends readonly unknown[]> = {
  readonly [Name in Named<Tools>["name"]]?: GivenRule<ArgsOf<Extract<Named<Tools>, { readonly name: Name }>>>;
};

/** A compiled graph, or an agent of `createAgent`. */
export interface Resumable {
  getState(
    config: RunnableConfig,
  ): Promise<{ readonly tasks: readonly { readonly interrupts?: readonly object[] }[] }>;
}

/** How to go on, or what the conversation still waits for. */
export type Resumption =
  /** Invoke the graph with this. */
  | { readonly ready: true; readonly command: Command<unknown, Record<string, never>, never> }
  /** Waiting for a decision, or for somebody to settle an unknown outcome. Empty if it waits for nothing of ours. */
  | { readonly ready: false; readonly waiting: readonly CallerOutcome[] };

/** The gate of a program that runs agents of LangChain or graphs of LangGraph. */
export interface LangChainGate {
  /**
   * The same tools, of which those with a rule are behind the gate. If the engine has a policy, all are. Give them to
   * `createAgent` or a `ToolNode`; the graph needs a checkpointer. Tools that run at the model's provider stay as they are.
   */
  tools<const Tools extends readonly object[]>(tools: Tools, rules: RulesOf<Tools>): [...Tools];
  /**
   * Records what a front end sent as decisions of this person. `sent` has the answers by the id of the question that was
   * shown, `countersign.confirmation` in the interrupt's value: an answer decides no other question. Call it only with
   * a person whom your server has authenticated, and then resume with `resume`.
   */
  record(config: RunnableConfig, sent: unknown, acting: Acting): Promise<readonly ButtonResult[]>;
  /** The command to invoke the graph with, once every question is answered. */
  resume(graph: Resumable, config: RunnableConfig): Promise<Resumption>;
  /** Withdraws every call of a conversation that has not started: the user moved on. Returns how many. */
  cancel(thread: string, reason: string): Promise<number>;
}

const NAME_THE_QUESTION =
  "Send each answer by the id of the question that was shown: `countersign.confirmation` in the interrupt's value.";

/** Makes the gate. People are asked in the ledger, and an approved call runs at most once. */
export function createGate({ engine, app, identify = byThreadId }: LangChainGateOptions): LangChainGate {
  const gateOf: GateOf = ({ configurable = {} }) => {
    const { thread, user, turn } = identify(configurable);
    const gate = new ThreadGate({ engine, app, thread, ...(user === undefined ? {} : { user }) });
    return { gate, ...(turn === undefined ? {} : { turn }) };
  };
  return {
    tools: (tools, rules) => {
      const given: { readonly [name: string]: GivenRule<never> | undefined } = rules;
      checkRules(given, new Set(tools.map(nameOf)));
      const { hasPolicy } = new ThreadGate({ engine, app, thread: app });
      return tools.map((tool) => {
        const rule = ruleOf(tool, { rule: given[nameOf(tool)], hasPolicy });
        return rule === undefined ? tool : new GatedTool(tool as StructuredTool, { rule, gateOf }).wrapped;
      }) as never;
    },
    record: (config, sent, acting) => record(gateOf(config).gate, asJson(sent), acting),
    resume: async (graph, config) => resume(gateOf(config).gate, await pausesOf(graph, config)),
    cancel: (thread, reason) => new ThreadGate({ engine, app, thread }).cancel(reason),
  };
}

function byThreadId({ thread_id: thread }: { readonly [name: string]: unknown }): Conversation {
  if (typeof thread === "string" && thread !== "") return { thread };
  throw new CountersignError(
    "invalid-option",
    "A gated tool needs to know its conversation: set `configurable.thread_id`, or the gate's `identify`.",
  );
}

/** The rule of a tool that is gated. */
function ruleOf(
  tool: object,
  { rule, hasPolicy }: { readonly rule: GivenRule<never> | undefined; readonly hasPolicy: boolean },
): ToolRule<unknown> | undefined {
  if (rule === undefined && !hasPolicy) return undefined;
  if (isStructured(tool)) {
    if (rule === undefined) return ONLY_POLICY;
    return (rule === true ? {} : rule) as ToolRule<unknown>;
  }
  // Nothing of it runs here that a policy could stop.
  if (rule === undefined && !("invoke" in tool)) return undefined;
  throw new CountersignError(
    "invalid-option",
    `The tool "${nameOf(tool)}" cannot be gated: make it with \`tool\`, or as a subclass of StructuredTool.`,
  );
}

async function pausesOf(graph: Resumable, config: RunnableConfig): Promise<readonly OpenPause[]> {
  return openPauses((await graph.getState(config)).tasks);
}

function nameOf(tool: object): string {
  return "name" in tool ? String(tool.name) : "";
}

/** Also if it comes from another copy of the package. */
function isStructured(tool: object): boolean {
  return tool instanceof StructuredTool || ("_call" in tool && "schema" in tool && "invoke" in tool);
}

async function record(
  gate: ThreadGate,
  sent: JsonValue | undefined,
  acting: Acting,
): Promise<readonly ButtonResult[]> {
  // Whatever is open now may be another question than the one that was shown.
  if (!isJsonObject(sent) || "type" in sent || "decisions" in sent)
    return [refusal("ambiguous", NAME_THE_QUESTION)];
  const results: ButtonResult[] = [];
  for (const [id, answer] of Object.entries(sent))
    results.push(await recordOne(gate, { id, answer }, acting));
  return results;
}

async function recordOne(
  gate: ThreadGate,
  { id, answer }: { readonly id: string; readonly answer: JsonValue },
  acting: Acting,
): Promise<ButtonResult> {
  const question = await gate.question(id);
  if (question === undefined)
    return refusal(
      "unknown-confirmation",
      `There is no question ${id} in this conversation. ${NAME_THE_QUESTION}`,
    );
  const pressed = readPressed(answer, question);
  if (pressed === undefined)
    return refusal("malformed-decision", `This is not an answer to the question ${id}.`);
  return gate.answer(question, pressed, { via: "langchain", ...acting });
}

function refusal(code: string, message: string): ButtonResult {
  return { ok: false, code, message };
}

async function resume(gate: ThreadGate, pauses: readonly OpenPause[]): Promise<Resumption> {
  const found = await Promise.all(pauses.map(({ call }) => gate.find({ id: call })));
  const known = found.filter((outcome) => outcome !== undefined);
  const waiting = known.filter(({ status }) => status === "pending" || status === "unknown");
  if (known.length === 0 || known.length < pauses.length || waiting.length > 0)
    return { ready: false, waiting };
  // The tools look into the ledger, whatever the value is.
  const answers = Object.fromEntries(pauses.map(({ id }) => [id, { decisions: [] }]));
  return { ready: true, command: new Command({ resume: answers }) };
}

/** What a client sent, as far as it is JSON. */
function asJson(sent: unknown): JsonValue | undefined {
  return sent === undefined ? undefined : (JSON.parse(JSON.stringify(sent) ?? "null") as JsonValue);
}
