// A scripted agent for trying out confirmations without a model: no key, no network, the same answer every time.
// "reimburse 1500 for hotel", "time off 5", "greet Ada", or several joined by " and ".
import { z } from "zod";
import { Agent, type ToolContext, tool } from "../../../src/index.ts";
import { script } from "./script.ts";

const reimburse = tool({
  name: "reimburse",
  description: "Reimburse an expense. More than 1000 needs approval.",
  parameters: z.object({ purpose: z.string(), amount: z.number() }),
  requireConfirmation: ({ amount }) => amount > 1000,
  confirmationHint:
    "Please approve or reject the tool call reimburse() by responding with a FunctionResponse with an expected ToolConfirmation payload.",
  execute: ({ purpose, amount }) => ({ status: "ok", purpose, amount }),
});

function requestDays({ days }: { readonly days: number }, ctx: ToolContext): Days | undefined {
  if (days <= 2) return { status: "ok", approved_days: days };
  const answer = ctx.toolConfirmation;
  if (answer === undefined) {
    const hint = "Please approve or reject the time off request, and set approved_days.";
    ctx.requestConfirmation({ hint, payload: { approved_days: 0 } });
    return undefined;
  }
  const { approved_days = 0 } = answered.safeParse(answer.payload).data ?? {};
  const granted = answer.confirmed ? Math.min(approved_days, days) : 0;
  return { status: granted === 0 ? "rejected" : "ok", approved_days: granted };
}

type Days = { readonly status: string; readonly approved_days: number };

const answered = z.object({ approved_days: z.number() });

const daysOff = {
  description: "Request days off. More than 2 days needs a manager who may approve fewer days.",
  parameters: z.object({ days: z.number() }),
  // The tool words its own denial, as the ADK's tools do.
  onDenied: "invoke",
  execute: requestDays,
} as const;

const greet = tool({
  name: "greet",
  description: "Greet a person. Never needs approval.",
  parameters: z.object({ name: z.string() }),
  readOnly: true,
  execute: ({ name }) => ({ greeting: `Hello ${name}` }),
});

export const rootAgent: Agent = new Agent({
  name: "hitl_demo",
  description: "Scripted agent for human-in-the-loop checks",
  examplePrompts: ["reimburse 1500 for hotel", "time off 5", "greet Ana"],
  model: script,
  instruction: "Scripted.",
  tools: [
    reimburse,
    tool({ ...daysOff, name: "request_time_off" }),
    tool({ ...daysOff, name: "request_sabbatical" }),
    greet,
  ],
});
