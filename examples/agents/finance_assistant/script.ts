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
    return typeof message === "string" ? message : `It was not paid: ${told}.`;
  }
  const [digits] = /\d[\d,]*(?:\.\d+)?/.exec(text) ?? [];
  if (digits === undefined) return `Tell me an amount, as in "Reimburse me $45".`;
  const amount = Number(digits.replaceAll(",", ""));
  const how =
    amount > 1000
      ? "Since this exceeds $1000, manager approval is required. Please confirm the request to submit it for review."
      : "Please confirm it to proceed.";
  return [
    { text: `I am initiating the reimbursement request for ${amount}. ${how}` },
    { functionCall: { name: "reimburse", args: { amount } } },
  ];
});
