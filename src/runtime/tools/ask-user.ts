import { type Approvers, refuseUnknown } from "../../engine/index.ts";
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  member,
  type UserQuestion,
} from "../../protocol/index.ts";
import { type Tool, tool } from "./tool.ts";

/** The name of the tool and of its question: user interfaces recognise it by `Confirmation.question`. */
export const ASK_USER = "ask_user";

/** Options of {@link askUser}. */
export interface AskUserOptions {
  /** Who may answer. Default: the requester. */
  readonly approvers?: Approvers;
  /** After this time, unanswered questions expire, and the model is told so. */
  readonly expiresInMs?: number;
}

const KNOWN_OPTIONS: ReadonlySet<string> = new Set<keyof AskUserOptions>(["approvers", "expiresInMs"]);

const MOST_QUESTIONS = 20;

const PARAMETERS: JsonObject = {
  type: "object",
  properties: {
    questions: {
      type: "array",
      minItems: 1,
      maxItems: MOST_QUESTIONS,
      items: {
        type: "object",
        properties: {
          question: { type: "string", minLength: 1 },
          choices: { type: "array", items: { type: "string" } },
          multiple: { type: "boolean" },
        },
        required: ["question"],
      },
    },
  },
  required: ["questions"],
};

/**
 * A tool with which the model asks the user questions and waits for the answers, for minutes or days. The questions are
 * a confirmation: an approval has the answers as its payload; a denial means that the user declined. It changes
 * nothing, so after a crash it simply continues.
 */
export function askUser(options: AskUserOptions = {}): Tool {
  refuseUnknown("askUser", options, KNOWN_OPTIONS);
  const { approvers, expiresInMs } = options;
  return tool({
    name: ASK_USER,
    description:
      "Asks the user one or more questions and waits for the answers. Give choices where there are any; the user may also answer in their own words. Set multiple where several choices may be picked.",
    parameters: PARAMETERS,
    readOnly: true,
    ...(approvers === undefined ? {} : { approvers }),
    ...(expiresInMs === undefined ? {} : { expiresInMs }),
    execute: async (args, context) => {
      const questions = askedQuestions(args);
      const hint = questions.map(({ question }) => question).join("\n");
      const { payload } = await context.confirm(ASK_USER, { hint, schema: answersSchema(questions) });
      const answers = readAnswers(questions, payload);
      return {
        answers: questions.map(({ question }, index) => ({ question, answer: answers[index] ?? [] })),
      };
    },
  });
}

/** The questions in the arguments of a call of {@link askUser}; invalid ones are left out. */
export function askedQuestions(args: JsonObject): readonly UserQuestion[] {
  const list = member(args, "questions");
  if (!isJsonArray(list)) return [];
  return list.filter(isJsonObject).map((item) => {
    const [question, choices] = [member(item, "question"), member(item, "choices")];
    return {
      question: typeof question === "string" ? question : "",
      choices: textsIn(choices),
      multiple: member(item, "multiple") === true,
    };
  });
}

/** What an approval's payload must look like: `answer_1`, `answer_2`, … in the order of the questions; none is needed. */
export function answersSchema(questions: readonly UserQuestion[]): JsonObject {
  const properties = questions.map((asked, index) => [nameAt(index), answerSchema(asked)] as const);
  return { type: "object", properties: Object.fromEntries(properties), additionalProperties: false };
}

// The choices are not enforced: people may answer in their own words.
function answerSchema({ question, choices, multiple }: UserQuestion): JsonObject {
  const description = choices.length === 0 ? question : `${question} (${choices.join(" | ")})`;
  const about = { title: question, description };
  return multiple
    ? { type: ["array", "string"], items: { type: "string" }, ...about }
    : { type: "string", ...about };
}

function nameAt(index: number): string {
  return `answer_${index + 1}`;
}

/** The payload of an approval that gives these answers, one list for each question; an empty list is no answer. */
export function toAnswersPayload(
  questions: readonly UserQuestion[],
  answers: readonly (readonly string[])[],
): JsonObject {
  const given = questions.flatMap(({ multiple }, index): (readonly [string, JsonValue])[] => {
    const answer = answers[index] ?? [];
    const [first] = answer;
    if (first === undefined) return [];
    return [[nameAt(index), multiple ? [...answer] : first]];
  });
  return Object.fromEntries(given);
}

/** The answers in an approval's payload, one list for each question. */
export function readAnswers(
  questions: readonly UserQuestion[],
  payload: JsonValue | undefined,
): readonly (readonly string[])[] {
  const given = isJsonObject(payload) ? payload : {};
  return questions.map((_, index) => {
    const answer = member(given, nameAt(index));
    return typeof answer === "string" ? (answer === "" ? [] : [answer]) : textsIn(answer);
  });
}

function textsIn(value: JsonValue | undefined): readonly string[] {
  return isJsonArray(value) ? value.filter((item) => typeof item === "string") : [];
}
