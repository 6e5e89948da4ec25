// The HR assistant of the ADK's documentation, with its import, its hint and its example changed. The approval says how
// many days.
import { z } from "zod";
import { FunctionTool, LlmAgent } from "../../../src/index.ts";
import { script } from "./script.ts";

const hasKey = Boolean(process.env["GEMINI_API_KEY"] || process.env["GOOGLE_API_KEY"]);

/** A tool that requests time off for an employee, and asks a manager how much of it. */
export const requestTimeOffTool = new FunctionTool({
  name: "request_time_off",
  description: "Request days off for the employee.",
  parameters: z.object({
    days: z.number().describe("The number of days requested."),
  }),
  execute: async ({ days }, toolContext) => {
    const confirmation = toolContext?.toolConfirmation;
    if (!confirmation) {
      // Step 1: Request confirmation with a payload
      toolContext?.requestConfirmation({
        hint: `Grant ${days} days off? You may grant fewer.`,
        payload: { approved_days: days },
      });
      // Return a descriptive status to the agent
      return {
        status: "PENDING_MANAGER_APPROVAL",
        message: `A request for ${days} days is pending manager approval.`,
      };
    }
    // Step 2: Process the confirmation response
    if (!confirmation.confirmed) {
      return { status: "CANCELLED", message: "The request was cancelled by the user." };
    }
    const { approved_days: granted } = z.object({ approved_days: z.number() }).parse(confirmation.payload);
    const approvedDays = Math.min(granted, days);
    if (approvedDays === 0) {
      return {
        status: "REJECTED",
        message: "The time off request was rejected by the manager.",
        approved_days: 0,
      };
    }
    return {
      status: "SUCCESS",
      message: `The request for ${days} days was approved (Total approved: ${approvedDays}).`,
      approved_days: approvedDays,
    };
  },
});

export const rootAgent = new LlmAgent({
  name: "HR_Assistant",
  model: hasKey ? "gemini-flash-latest" : script,
  instruction: `You are an HR Assistant.
1. Use the 'request_time_off' tool to help employees with leave requests.
2. MANDATORY: Every tool call MUST be accompanied by a text response in the same message.
3. EXAMPLE:
User: "I want 5 days off"
Model: "I am initiating your leave request for 5 days. Management approval is required, so please confirm this request." [Tool Call: request_time_off(days=5)]
4. Once confirmed, the system will automatically provide the result of the approval.`,
  tools: [requestTimeOffTool],
});
