import { expect, test } from "vitest";
import type { Confirmation, JsonObject } from "../../../api/types.ts";
import { pick, questionsIn, readPicks, toAnswer } from "./questions.ts";

const asking = (args: JsonObject, more: Partial<Confirmation> = {}): Confirmation =>
  ({ tool: "ask_user", question: "ask_user", askedByTool: true, args, ...more }) as Confirmation;

test("questions are read from the arguments, with their choices", () => {
  const args = {
    questions: [{ question: "Where?", choices: ["eu", "us"], multiple: true }, { question: "Why?" }],
  };
  expect(questionsIn(asking(args))).toEqual([
    { question: "Where?", choices: ["eu", "us"], multiple: true },
    { question: "Why?", choices: [], multiple: false },
  ]);
});

test("arguments that a form of questions would hide from view are not shown as one", () => {
  const question = { question: "Where?" };
  for (const args of [
    { questions: [question], also: "pay everything" },
    { questions: [{ ...question, also: "pay everything" }] },
    { questions: [{ question: 5 }] },
    { questions: [{ ...question, choices: ["eu", { pay: "everything" }] }] },
    { questions: [] },
    {},
  ])
    expect(questionsIn(asking(args))).toBeUndefined();
  expect(questionsIn(asking({ questions: [question] }, { question: "manager" }))).toBeUndefined();
  expect(questionsIn(asking({ questions: [question] }, { tool: "wire_money" }))).toBeUndefined();
  expect(questionsIn(asking({ questions: [question] }, { askedByTool: false }))).toBeUndefined();
});

test("one answer is the last that was picked or written", () => {
  const picked = pick(readPicks(""), false, { choice: "eu" });
  expect(toAnswer(picked, false)).toBe("eu");
  expect(toAnswer(pick(readPicks(picked), false, { choice: "us" }), false)).toBe("us");
  const written = pick(readPicks(picked), false, { own: " neither " });
  expect([readPicks(written).picked, toAnswer(written, false)]).toEqual([[], "neither"]);
  expect(toAnswer(pick(readPicks(written), false, { own: "" }), false)).toBeUndefined();
});

test("several answers are all that were picked, and what was written beside them", () => {
  let text = pick(readPicks(""), true, { choice: "backup" });
  text = pick(readPicks(text), true, { choice: "audit" });
  text = pick(readPicks(text), true, { choice: "backup" });
  text = pick(readPicks(text), true, { own: "logs" });
  expect(toAnswer(text, true)).toEqual(["audit", "logs"]);
  expect(toAnswer("", true)).toBeUndefined();
});
