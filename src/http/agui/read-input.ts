import {
  CountersignError,
  isJsonArray,
  isJsonObject,
  member,
  type Part,
  REQUEST_CONFIRMATION_FUNCTION_NAME,
} from "../../protocol/index.ts";
import type { AguiInput, ResumeEntry } from "./schemas.ts";

/** What is new in a request: the user's text, and answers to questions. */
export interface NewInput {
  readonly text: readonly Part[];
  readonly answers: readonly Part[];
  /** The client's id of the text. */
  readonly messageId?: string;
}

/**
 * Reads what is new: the last message if it is the user's, and the answers. The rest of the client's history is not
 * read: the ledger has its own, and nothing in a message is ever a result or a decision.
 */
export function readInput({ messages, resume }: AguiInput): NewInput {
  const last = messages.at(-1);
  const answers = (resume ?? []).flatMap(toAnswer);
  if (last?.role !== "user") return { text: [], answers };
  return { text: toText(last.content), answers, messageId: last.id };
}

// An entry without an answer decides nothing, so the question stays open.
function toAnswer(entry: ResumeEntry): readonly Part[] {
  if (entry.status === "cancelled") return [];
  const { approved: confirmed, ...rest } = entry.payload;
  const response = { confirmed, ...rest };
  return [
    {
      functionResponse: { id: entry.interruptId, name: REQUEST_CONFIRMATION_FUNCTION_NAME, response },
    } as Part,
  ];
}

function toText(content: unknown): readonly Part[] {
  const parts = isJsonArray(content) ? content : [{ type: "text", text: content }];
  return parts.flatMap((part) => {
    const text = isJsonObject(part) && member(part, "type") === "text" ? member(part, "text") : undefined;
    if (typeof text !== "string") {
      throw new CountersignError("malformed-request", "The last message has a part that is not text.", {
        details: { field: "messages", hint: "Send text, or send the message to /run_sse." },
      });
    }
    return text === "" ? [] : [{ text }];
  });
}
