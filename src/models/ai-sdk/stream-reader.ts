import type { Part } from "../../protocol/index.ts";
import { readFinish } from "./from-wire.ts";
import { fieldsOf, type WireAnswer, type WirePart } from "./language-model.ts";

/** A text or a piece of reasoning that is still coming. */
interface Block {
  readonly type: "text" | "reasoning";
  text: string;
  providerMetadata?: unknown;
}

const WHOLE_PIECES: ReadonlySet<string> = new Set([
  "tool-call",
  "tool-result",
  "tool-approval-request",
  "file",
  "reasoning-file",
  "custom",
]);

/** Puts the pieces of a stream together into the answer that the model would have given at once. */
export class StreamReader {
  readonly #content: (Block | WirePart)[] = [];
  readonly #open = new Map<string, Block>();
  /** Calls whose arguments began to come, by id. */
  readonly #begun = new Map<string, string>();
  #end: WirePart | undefined;

  /** Takes the next piece, and gives the text that came with it. */
  add(piece: WirePart): Part[] {
    const { type } = piece;
    const id = String(piece["id"] ?? piece["toolCallId"]);
    if (WHOLE_PIECES.has(type)) {
      this.#content.push(piece);
      if (type === "tool-call") this.#begun.delete(id);
    } else if (type === "tool-input-start" && piece["providerExecuted"] !== true) {
      this.#begun.set(id, String(piece["toolName"]));
    } else if (type === "finish") {
      this.#end = piece;
    } else {
      return this.#addText(piece, id);
    }
    return [];
  }

  /**
   * The whole answer, or nothing if the stream ended before it was complete. An end without a reason does not count: the
   * AI SDK makes one up where the connection was cut.
   */
  toAnswer(): WireAnswer | undefined {
    if (this.#end === undefined) return undefined;
    const { finishReason, usage } = this.#end;
    if (isCut(finishReason)) return undefined;
    const content: WirePart[] = this.#content.map((piece) => ({ ...piece }));
    // Arguments that started and never became a call were not JSON; this must be reported.
    for (const [toolCallId, toolName] of this.#begun) {
      content.push({ type: "tool-call", toolCallId, toolName, input: undefined });
    }
    return { content, finishReason, usage };
  }

  #addText(piece: WirePart, id: string): Part[] {
    const [type, step] = piece.type.split("-");
    if ((type !== "text" && type !== "reasoning") || step === undefined) return [];
    const key = `${type} ${id}`;
    let block = this.#open.get(key);
    if (block === undefined) {
      block = { type, text: "" };
      this.#open.set(key, block);
      this.#content.push(block);
    }
    if (piece["providerMetadata"] !== undefined) block.providerMetadata = piece["providerMetadata"];
    if (step === "end") this.#open.delete(key);
    const delta = step === "delta" ? String(piece["delta"]) : "";
    block.text += delta;
    return delta === "" ? [] : [{ text: delta, ...(type === "reasoning" && { thought: true }) }];
  }
}

/** Whether the provider did not say why it stopped: `unknown` in v2, `other` with nothing raw in v3. */
function isCut(finishReason: unknown): boolean {
  const { unified, raw } = readFinish(finishReason);
  return unified === "interrupted" || unified === "unknown" || (unified === "other" && raw === undefined);
}

/** Reads a piece of a stream; what has no type is none. */
export function toPiece(value: unknown): WirePart | undefined {
  const fields = fieldsOf(value);
  return typeof fields["type"] === "string" ? (fields as WirePart) : undefined;
}
