import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../json.ts";
import { type Parsed, parsed } from "../../parsed.ts";
import { strictObject, strictPayload, undecided } from "./strict-object.ts";

/** A question to the user. With `choices` they pick, or write something else; without, they write. */
export interface UserQuestion {
  readonly question: string;
  readonly choices: readonly string[];
  readonly multiple: boolean;
}

/** A pause with questions instead of an approval. */
export interface AskUserRequest {
  readonly id: string;
  readonly questions: readonly UserQuestion[];
}

/** The `ask_user_request` payload. */
export function encodeAskUserRequest({ id, questions }: AskUserRequest): JsonObject {
  return {
    type: "ask_user_request",
    id,
    questions: questions.map(({ question, choices, multiple }) => ({
      question,
      choices: [...choices],
      multiple,
    })),
  };
}

/** Reads an `ask_user_request`, as a caller of a remote agent gets it. Absent choices are none. */
export function decodeAskUserRequest(payload: unknown): Parsed<AskUserRequest> {
  const object = strictPayload(payload, "ask_user_request", ["id", "questions", "nested"]);
  if (!object.ok) return object;
  const id = member(object.value, "id");
  if (typeof id !== "string" || id === "") return undecided("id", "must be a string that is not empty");
  const list = member(object.value, "questions");
  if (!isJsonArray(list)) return undecided("questions", "must be an array");
  const questions: UserQuestion[] = [];
  for (const [index, item] of list.entries()) {
    const question = decodeQuestion(item, `questions[${index}]`);
    if (!question.ok) return question;
    questions.push(question.value);
  }
  return parsed({ id, questions });
}

function decodeQuestion(value: JsonValue, path: string): Parsed<UserQuestion> {
  if (!isJsonObject(value)) return undecided(path, "must be an object");
  const question = member(value, "question");
  const choices = member(value, "choices") ?? [];
  if (typeof question !== "string") return undecided(`${path}.question`, "must be a string");
  if (!isTextList(choices)) return undecided(`${path}.choices`, "must be an array of strings");
  return parsed({ question, choices, multiple: member(value, "multiple") === true });
}

/**
 * The answers of an `ask_user_response`, in the order of the questions; an empty list is "no answer". Refuses
 * (`malformed-decision`) another id, a number of answers other than that of the questions, several answers to
 * a question that takes one, and members that do not belong. Answers need not be among the choices.
 */
export function decodeAskUserResponse(
  payload: unknown,
  asked: AskUserRequest,
): Parsed<readonly (readonly string[])[]> {
  const object = strictPayload(payload, "ask_user_response", ["id", "answers"]);
  if (!object.ok) return object;
  if (member(object.value, "id") !== asked.id)
    return undecided("id", `must be ${asked.id}, the id of the request`);
  const list = member(object.value, "answers");
  if (!isJsonArray(list) || list.length !== asked.questions.length) {
    return undecided(
      "answers",
      `must be an array of ${asked.questions.length}, one answer for each question`,
    );
  }
  const answers: (readonly string[])[] = [];
  for (const [index, question] of asked.questions.entries()) {
    const answer = decodeAnswer(list[index], question, `answers[${index}]`);
    if (!answer.ok) return answer;
    answers.push(answer.value);
  }
  return parsed(answers);
}

function decodeAnswer(value: unknown, question: UserQuestion, path: string): Parsed<readonly string[]> {
  const object = strictObject(value, ["answer"], path);
  if (!object.ok) return object;
  const answer = member(object.value, "answer");
  if (!isTextList(answer)) return undecided(`${path}.answer`, "must be an array of strings");
  if (!question.multiple && answer.length > 1) return undecided(`${path}.answer`, "must be a single answer");
  return parsed(answer);
}

function isTextList(value: JsonValue | undefined): value is readonly string[] {
  return isJsonArray(value) && value.every((item) => typeof item === "string");
}
