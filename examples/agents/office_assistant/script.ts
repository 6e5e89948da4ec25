import type { JsonObject, Model } from "../../../src/index.ts";
import { scripted } from "../../../src/models/scripted/index.ts";
import { PRICES } from "./scratch-folder.ts";

type Said = readonly {
  readonly text?: string;
  readonly functionCall?: { readonly name: string; readonly args: JsonObject };
}[];

/** A scripted model for use without an API key: knows six requests, and repeats what its tools say. */
export const script: Model = scripted(({ contents }) => {
  const last = contents.at(-1)?.parts ?? [];
  const text = last.map((part) => part.text ?? "").join("");
  // Results come last or, if the user sent messages meanwhile, before a note about them.
  const from = text.startsWith("(The results of") ? contents.flatMap(({ parts }) => parts) : last;
  const result = from
    .flatMap(({ functionResponse }) => (functionResponse === undefined ? [] : [functionResponse.response]))
    .findLast(({ status }) => status !== "pending");
  if (result !== undefined) return told(result);
  for (const [pattern, answer] of REQUESTS) {
    const found = pattern.exec(text);
    if (found !== null) return answer(found);
  }
  return `Try: "Reimburse 2500 EUR for the team offsite", "I want 5 days off", "E-mail Maria that the invoice is paid", "Raise the Team price to 59", "Book a venue for the offsite", "Deploy 2.4.0 to production".`;
});

const REQUESTS: readonly (readonly [RegExp, (found: RegExpExecArray) => Said])[] = [
  [
    /reimburse (?:me )?\$?([\d,.]*\d)(?: (?:EUR|euros?))?(?: for (.+?))?\.?$/i,
    ([, amount = "", purpose = "expenses"]) =>
      call("I ask for the reimbursement.", "reimburse", {
        amount: Number(amount.replaceAll(",", "")),
        currency: "EUR",
        purpose,
      }),
  ],
  [
    /(\d+) days? off/i,
    ([, days = ""]) =>
      call("I ask your manager for the days off.", "request_time_off", { days: Number(days) }),
  ],
  [
    /e-?mail (\w+) that (.+?)\.?$/i,
    ([, name = "", news = ""]) =>
      call(`I have written an e-mail to ${name}.`, "send_email", {
        to: `${name.toLowerCase()}@example.com`,
        subject: `${news.charAt(0).toUpperCase()}${news.slice(1)}`,
        body: `Hello ${name},\n\njust a short note that ${news}.\nTell me if anything is missing.\n\nBest regards`,
      }),
  ],
  [
    /raise the team price to (\d+)/i,
    ([, price = ""]) =>
      call(`I want to change ${PRICES.name}.`, "edit_file", {
        path: PRICES.name,
        before: "- Team: 49 EUR a month\n- Company: ask us\n",
        after: `- Team: ${price} EUR a month\n- Company: ask us\n`,
      }),
  ],
  [
    /venue/i,
    () =>
      call("Two things I need to know first.", "ask_user", {
        questions: [
          { question: "Which venue do you prefer?", choices: ["Lakeside house", "City hotel", "Our office"] },
          { question: "What must it have?", choices: ["Projector", "Kitchen", "Garden"], multiple: true },
        ],
      }),
  ],
  [
    /deploy (\S+) to (staging|production)/i,
    ([, version = "", environment = ""]) =>
      call(`I deploy ${version}.`, "deploy", { version, environment: environment.toLowerCase() }),
  ],
];

function call(text: string, name: string, args: JsonObject): Said {
  return [{ text }, { functionCall: { name, args } }];
}

function told({ message, answers, error, reason }: JsonObject): string {
  if (typeof message === "string") return message;
  if (Array.isArray(answers)) return `Thank you, I will book it: ${answers.map(answerIn).join("; ")}.`;
  return `It was not done: ${[error, reason].filter((word) => typeof word === "string").join(": ")}.`;
}

function answerIn(given: unknown): string {
  const { question, answer } = given as { readonly question: string; readonly answer: readonly string[] };
  return `${question} ${answer.length === 0 ? "no answer" : answer.join(", ")}`;
}
