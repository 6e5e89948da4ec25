import { type CallerOutcome, toldToModel } from "../engine/index.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../protocol/index.ts";
import { errorTextOf, isSame } from "./told.ts";

/** A result of an MCP tool. */
export type ToolResult = JsonObject;

const ERASED = "The call ran. Its result is no longer stored.";

/** Has the call no outcome yet that a client could be told? */
export function isOpen({ status }: CallerOutcome): boolean {
  return status === "pending" || status === "allowed" || status === "executing" || status === "unknown";
}

/** One run of an MCP tool's function in this process. */
export class ToolRun {
  readonly #handler: (args: JsonObject) => unknown;
  #here: { readonly result?: ToolResult; readonly error?: unknown } | undefined;

  /** The handler gets the arguments that were approved. */
  constructor(handler: (args: JsonObject) => unknown) {
    this.#handler = handler;
  }

  async body(approved: JsonObject): Promise<JsonValue> {
    try {
      const result = toResult(await this.#handler(approved));
      this.#here = { result };
      if (member(result, "isError") === true) throw new Error(failureIn(result));
      return result;
    } catch (error) {
      this.#here ??= { error };
      throw error;
    }
  }

  /**
   * What the client is told: the tool's own result, or a text for the model. What the function itself threw is thrown as
   * it was. `advice` is added for a call that has no outcome yet.
   */
  answer(outcome: CallerOutcome, advice: string): ToolResult {
    const here = this.#here;
    if (here !== undefined && outcome.status === "failed" && outcome.amended === undefined) {
      if (here.result === undefined) throw here.error;
      return here.result;
    }
    return resultOf(outcome, advice);
  }
}

/** The arguments that the framework has parsed, or an approver's, parsed again. */
export async function approvedArgs(
  approved: JsonObject,
  args: unknown,
  parse: (approved: JsonObject) => Promise<unknown>,
): Promise<unknown> {
  return isSame(approved, args) ? args : parse(approved);
}

function resultOf(outcome: CallerOutcome, advice: string): ToolResult {
  if (isOpen(outcome)) return waitingResult(outcome, advice);
  const { ok, answer } = toldToModel(outcome);
  if (!ok) return { content: [textPart(errorTextOf(answer))], isError: true };
  if (outcome.amended === undefined) return storedResult(answer);
  const { result = null, ...changed } = isJsonObject(answer) ? answer : {};
  const ran = storedResult(result);
  const content = member(ran, "content");
  return { ...ran, content: [...(isJsonArray(content) ? content : []), textPart(JSON.stringify(changed))] };
}

// An error, because there is no result: a client that expects structured content must not take this for one.
function waitingResult({ status, message, confirmation }: CallerOutcome, advice: string): ToolResult {
  return {
    content: [textPart(`${message} ${advice}`)],
    isError: true,
    _meta: {
      "countersign/call": {
        status,
        ...(confirmation === undefined ? {} : { confirmation: confirmation.id }),
      },
    },
  };
}

function storedResult(result: JsonValue): ToolResult {
  if (isJsonObject(result) && Object.hasOwn(result, "content")) return result;
  const warning = isJsonObject(result) ? member(result, "warning") : undefined;
  if (typeof warning === "string") return { content: [textPart(warning)] };
  // What somebody has settled it with.
  return { content: [textPart(result === null ? ERASED : JSON.stringify(result))] };
}

function toResult(value: unknown): ToolResult {
  const json: unknown = JSON.parse(JSON.stringify(value ?? null));
  if (!isJsonObject(json)) throw new Error("The tool did not return a result.");
  if (Object.hasOwn(json, "inputRequests"))
    throw new Error("A tool behind the gate cannot ask the client for input while it runs.");
  return json;
}

/** The text of a result that reports a failure. */
function failureIn(result: ToolResult): string {
  const content = member(result, "content");
  const texts = (isJsonArray(content) ? content : []).flatMap((part) => {
    const text = isJsonObject(part) ? member(part, "text") : undefined;
    return typeof text === "string" ? [text] : [];
  });
  return texts.join("\n") || "The tool reported a failure.";
}

function textPart(text: string): JsonObject {
  return { type: "text", text };
}
