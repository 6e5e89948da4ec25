import type { GenerateContentResponse } from "@google/genai";
import type { JsonObject, Part } from "../../protocol/index.ts";
import type { ModelChunk } from "../../runtime/index.ts";

/** The part of an answer, or of a streamed piece of one, that is read. */
export type GeminiAnswer = Pick<GenerateContentResponse, "candidates" | "promptFeedback" | "usageMetadata">;

/** The finish reasons of a valid answer; any other is an error. */
const ANSWERED: ReadonlySet<string> = new Set(["STOP", "MAX_TOKENS"]);

/** Collects an answer from one response, or from the pieces of a stream. */
export class AnswerReader {
  #parts: Part[] = [];
  #finishReason: string | undefined;
  #blocked: { readonly code: string; readonly message: string } | undefined;
  #usage: object | undefined;

  /** Takes a response as it is. */
  add(answer: GeminiAnswer): void {
    this.#parts.push(...this.#read(answer));
  }

  /** Takes a piece of a stream; pieces of one text become one part. Gives the text that came with it. */
  addPiece(answer: GeminiAnswer): Part[] {
    const pieces = this.#read(answer);
    for (const piece of pieces) this.#append(piece);
    return pieces
      .filter(({ text }) => text !== undefined && text !== "")
      .map(({ text, thought }) => ({
        ...(text !== undefined && { text }),
        ...(thought === true && { thought }),
      }));
  }

  /** Whether the provider said that the answer is complete. A stream that ends before has been cut. */
  get isFinished(): boolean {
    return this.#finishReason !== undefined || this.#blocked !== undefined;
  }

  /** The whole answer. An answer that ended in an error has no parts: nothing of it may run or count as an answer. */
  toChunk(): ModelChunk {
    const usage = this.#usage === undefined ? {} : { usageMetadata: this.#usage as JsonObject };
    const finish = this.#finishReason === undefined ? {} : { finishReason: this.#finishReason };
    const fault = this.#fault();
    if (fault === undefined) return { parts: this.#parts.map(toPart), ...finish, ...usage };
    return { parts: [], ...finish, ...usage, errorCode: fault.code, errorMessage: fault.message };
  }

  #read({ candidates, promptFeedback, usageMetadata }: GeminiAnswer): Part[] {
    this.#usage = usageMetadata ?? this.#usage;
    if (promptFeedback?.blockReason !== undefined) {
      const code = promptFeedback.blockReason;
      this.#blocked = {
        code,
        message: promptFeedback.blockReasonMessage ?? `Gemini refused the conversation (${code}).`,
      };
    }
    const [candidate] = candidates ?? [];
    this.#finishReason = candidate?.finishReason ?? this.#finishReason;
    return (candidate?.content?.parts ?? []) as Part[];
  }

  #append(piece: Part): void {
    const last = this.#parts.at(-1);
    if (isOpenText(piece) && piece.text === "") return;
    // A signed part is never joined with another, because the signature covers exactly that part.
    if (last !== undefined && isOpenText(last) && isOpenText(piece) && last.thought === piece.thought) {
      this.#parts[this.#parts.length - 1] = { ...last, text: `${last.text}${piece.text}` };
    } else {
      this.#parts.push(piece);
    }
  }

  #fault(): { readonly code: string; readonly message: string } | undefined {
    const reason = this.#finishReason;
    if (this.#blocked !== undefined) return this.#blocked;
    if (reason !== undefined && !ANSWERED.has(reason)) {
      return { code: reason, message: `Gemini stopped without an answer (${reason}).` };
    }
    if (reason === "MAX_TOKENS" && this.#parts.length === 0) {
      return { code: reason, message: "Gemini reached its token limit before it gave an answer." };
    }
    if (this.#parts.some(({ functionCall }) => functionCall !== undefined && !functionCall.name)) {
      return { code: "MALFORMED_FUNCTION_CALL", message: "Gemini called a function without naming it." };
    }
    return undefined;
  }
}

/** A text, or a thought, with nothing else to it. */
function isOpenText(part: Part): boolean {
  return (
    typeof part.text === "string" && Object.keys(part).every((key) => key === "text" || key === "thought")
  );
}

function toPart(part: Part): Part {
  // On the wire a call without arguments has no `args`.
  if (part.functionCall === undefined || part.functionCall.args !== undefined) return part;
  return { ...part, functionCall: { ...part.functionCall, args: {} } };
}
