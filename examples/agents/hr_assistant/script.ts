import { scripted } from "../../../src/models/scripted/index.ts";

/** Plays the model where no API key is set: the sentence of the instruction, and what the tool said. */
export const script = scripted(({ contents }) => {
  const last = contents.at(-1)?.parts ?? [];
  const text = last.map((part) => part.text ?? "").join("");
  // Results come last, or, where the person talked on meanwhile, above a note that they came.
  const from = text.startsWith("(The results of") ? contents.flatMap(({ parts }) => parts) : last;
  const result = from
    .flatMap(({ functionResponse }) => (functionResponse === undefined ? [] : [functionResponse.response]))
    .findLast(({ status }) => status !== "pending");
  if (result !== undefined) {
    const { message, error, reason } = result;
    const told = [error, reason].filter((word) => typeof word === "string").join(": ");
    return typeof message === "string" ? message : `No time off: ${told}.`;
  }
  const [digits] = /\d+/.exec(text) ?? [];
  if (digits === undefined) return `Tell me how many days, as in "I want 5 days off".`;
  const days = Number(digits);
  return [
    {
      text: `I am initiating your leave request for ${days} days. Management approval is required, so please confirm this request.`,
    },
    { functionCall: { name: "request_time_off", args: { days } } },
  ];
});
