import { scripted } from "../../../src/models/scripted/index.ts";

/** A scripted model for use without an API key: follows the instruction and repeats the tool's result. */
export const script = scripted(({ contents }) => {
  const last = contents.at(-1)?.parts ?? [];
  const text = last.map((part) => part.text ?? "").join("");
  // Results come last or, if the user sent messages meanwhile, before a note about them.
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
