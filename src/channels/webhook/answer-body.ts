import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "../../protocol/index.ts";

const TYPE = "confirmation.answered";
const MOST_BYTES = 1_000_000;
const MEMBERS: ReadonlySet<string> = new Set([
  "confirmation",
  "answerTo",
  "person",
  "confirmed",
  "reason",
  "payload",
]);

/** What a receiver answers, and for whom. */
export interface AnswerBody {
  readonly confirmation: string;
  /** The value of the message that asked. */
  readonly answerTo: string;
  /** The name by which the receiver knows the person. */
  readonly person: string;
  readonly confirmed: boolean;
  readonly reason?: string;
  readonly payload?: JsonValue;
}

/** Reads an answer. What is not understood is refused. */
export function readAnswer(
  body: Uint8Array,
): { readonly ok: true; readonly answer: AnswerBody } | { readonly ok: false; readonly message: string } {
  const parsed = parseJson(new TextDecoder().decode(body), { maxBytes: MOST_BYTES });
  if (!parsed.ok || !isJsonObject(parsed.value)) return flaw("The body must be a JSON object.");
  const { type, data } = parsed.value;
  if (type !== TYPE || !isJsonObject(data)) return flaw(`The body must have the type ${TYPE}, and \`data\`.`);
  return readData(data);
}

function readData(data: JsonObject): ReturnType<typeof readAnswer> {
  const stranger = Object.keys(data).find((name) => !MEMBERS.has(name));
  if (stranger !== undefined)
    return flaw(`\`data\` must not have other members than ${[...MEMBERS].join(", ")}.`);
  const { confirmation, answerTo, person, confirmed, reason, payload } = data;
  if (typeof confirmation !== "string" || typeof answerTo !== "string" || typeof person !== "string")
    return flaw("`confirmation`, `answerTo` and `person` must be texts.");
  if (typeof confirmed !== "boolean") return flaw("`confirmed` must be true or false.");
  if (reason !== undefined && typeof reason !== "string") return flaw("`reason` must be a text.");
  return {
    ok: true,
    answer: {
      confirmation,
      answerTo,
      person,
      confirmed,
      ...(reason === undefined ? {} : { reason }),
      ...(payload === undefined ? {} : { payload }),
    },
  };
}

function flaw(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}
