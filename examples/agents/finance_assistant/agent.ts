// After the finance assistant of the ADK's documentation. It asks before every reimbursement, and pays the amount that
// the approval says.
import { z } from "zod";
import { FunctionTool, LlmAgent } from "../../../src/index.ts";
import { script } from "./script.ts";

const hasKey = Boolean(process.env["GEMINI_API_KEY"] || process.env["GOOGLE_API_KEY"]);

/** What an approval may say. */
const approved = z.object({ amount: z.number().positive() });

/** A reimbursement tool with dynamic confirmation logic. */
export const reimburseTool = new FunctionTool({
  name: "reimburse",
  description: "Reimburse an amount. Large amounts (>1000) require manager approval.",
  parameters: z.object({
    amount: z.coerce.number().describe("The amount to reimburse."),
  }),
  execute: async ({ amount }, toolContext) => {
    const isLarge = amount > 1000;
    // 1. Check if we already have a confirmed response.
    const answer = toolContext?.toolConfirmation;
    if (answer?.confirmed) {
      const paid = answer.payload === undefined ? amount : approved.parse(answer.payload).amount;
      return {
        status: "SUCCESS",
        message: isLarge
          ? `Large reimbursement of ${paid} approved by manager and processed.`
          : `Reimbursement of ${paid} has been successfully processed.`,
      };
    }
    // 2. Request a tool confirmation.
    toolContext?.requestConfirmation({
      hint: isLarge
        ? `The amount ${amount} exceeds the $1000 limit and requires manager approval.`
        : `Do you want to reimburse ${amount}?`,
      payload: { amount },
    });
    // 3. Return a status that tells the agent we are waiting.
    return {
      status: isLarge ? "AWAITING_MANAGER_APPROVAL" : "AWAITING_CONFIRMATION",
      message: "This request requires approval to proceed.",
    };
  },
});

export const rootAgent = new LlmAgent({
  name: "Finance_Assistant",
  model: hasKey ? "gemini-flash-latest" : script,
  instruction: `You are a Finance Assistant.
- You MUST use the 'reimburse' tool for ALL reimbursement requests.
- MANDATORY: Every tool call MUST be accompanied by a text response in the same message.
- THRESHOLD LOGIC:
- For amounts <= 1000: Say "I am initiating the reimbursement request for [amount]. Please confirm it to proceed."
- For amounts > 1000: Say "I am initiating the reimbursement request for [amount]. Since this exceeds $1000, manager approval is required. Please confirm the request to submit it for review."
- EXAMPLES:
User: "Reimburse me $45"
Model: "I am initiating the reimbursement request for 45. Please confirm it to proceed." [Tool Call: reimburse(amount=45)]
User: "Reimburse me $2500"
Model: "I am initiating the reimbursement request for 2500. Since this exceeds $1000, manager approval is required. Please confirm the request to submit it for review." [Tool Call: reimburse(amount=2500)]
- If the user provides a currency symbol (like $), ignore it and pass only the number to the tool.`,
  tools: [reimburseTool],
});
