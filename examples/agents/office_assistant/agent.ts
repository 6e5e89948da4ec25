// What a card can look like: arguments that you may change, a form, an e-mail, a file edit, a question, a deadline.
// Each tool leaves its trace in one scratch folder and does exactly what was approved.
import { z } from "zod";
import { Agent, askUser, tool } from "../../../src/index.ts";
import { append, replaceIn } from "./scratch-folder.ts";
import { script } from "./script.ts";

const hasKey = Boolean(process.env["GEMINI_API_KEY"] || process.env["GOOGLE_API_KEY"]);
const QUARTER_HOUR_MS = 15 * 60 * 1000;

const reimburse = tool({
  name: "reimburse",
  description: "Reimburse an expense.",
  parameters: z.object({
    amount: z.number().positive(),
    currency: z.string().length(3),
    purpose: z.string().min(1),
  }),
  requireConfirmation: true,
  confirmationHint: ({ amount, currency, purpose }) =>
    `Reimburse ${amount.toLocaleString("en")} ${currency} for ${purpose}?`,
  // The approver may pay less, and what the approver says is what is paid.
  amendable: ["amount", "purpose"],
  execute: ({ amount, currency, purpose }) => {
    append("payments.csv", `${amount},${currency},${JSON.stringify(purpose)}`);
    return { message: `Paid ${amount} ${currency} for ${purpose}.` };
  },
});

const requestTimeOff = tool({
  name: "request_time_off",
  description: "Request days off for the employee. A manager says how many of them are granted.",
  parameters: z.object({ days: z.int().min(1).max(30) }),
  execute: async ({ days }, context) => {
    const { payload } = await context.confirm("days", {
      hint: `Grant ${days} days off? You may grant fewer.`,
      payload: { approved_days: days, note: "" },
      schema: {
        type: "object",
        properties: {
          approved_days: { type: "integer", title: "Days that you grant", minimum: 1, maximum: days },
          note: { type: "string", title: "A word to the employee", maxLength: 200 },
        },
        required: ["approved_days"],
        additionalProperties: false,
      },
    });
    const { approved_days, note = "" } = timeOffAnswer.parse(payload);
    append("time-off.csv", `${days},${approved_days},${JSON.stringify(note)}`);
    const granted = approved_days === days ? `all ${days}` : `${approved_days} of ${days}`;
    return { message: `You have ${granted} days off.${note === "" ? "" : ` Your manager says: ${note}`}` };
  },
});

const timeOffAnswer = z.object({ approved_days: z.int(), note: z.string().optional() });

const sendEmail = tool({
  name: "send_email",
  description: "Send an e-mail. In this demo it goes to the file outbox.txt.",
  parameters: z.object({ to: z.email(), subject: z.string(), body: z.string() }),
  requireConfirmation: true,
  confirmationHint: ({ to }) => `Send this e-mail to ${to}?`,
  amendable: ["subject", "body"],
  execute: ({ to, subject, body }) => {
    append("outbox.txt", `To: ${to}\nSubject: ${subject}\n\n${body}\n`);
    return { message: `Sent "${subject}" to ${to}.` };
  },
});

const editFile = tool({
  name: "edit_file",
  description: "Replace a passage of a text file.",
  parameters: z.object({ path: z.string(), before: z.string().min(1), after: z.string() }),
  requireConfirmation: true,
  confirmationHint: ({ path }) => `Change ${path}?`,
  confirmationLayout: { diff: { before: "before", after: "after" } },
  amendable: ["after"],
  execute: ({ path, before, after }) => {
    replaceIn(path, before, after);
    return { message: `Changed ${path}.` };
  },
});

const deploy = tool({
  name: "deploy",
  description: "Deploy a version to an environment.",
  parameters: z.object({ version: z.string(), environment: z.enum(["staging", "production"]) }),
  requireConfirmation: ({ environment }) => environment === "production",
  confirmationHint: ({ version, environment }) => `Deploy ${version} to ${environment}?`,
  confirmationLayout: { hold: true },
  // Nobody answers in time: it does not run.
  expiresInMs: QUARTER_HOUR_MS,
  execute: ({ version, environment }) => {
    append("deployments.csv", `${version},${environment}`);
    return { message: `Deployed ${version} to ${environment}.` };
  },
});

export const rootAgent: Agent = new Agent({
  name: "office_assistant",
  description: "Expenses, time off, e-mail, files, deployments",
  examplePrompts: [
    "Reimburse 120 EUR for the taxi to the airport",
    "I want 5 days off",
    "E-mail Maria that the invoice is paid",
    "Deploy 2.4.0 to production",
  ],
  model: hasKey ? "gemini-flash-latest" : script,
  instruction:
    "You are an office assistant. Do what the user asks with your tools, say in one sentence what you are about to do in the same message, and afterwards repeat the tool's message. Amounts without a currency are in EUR. Ask with ask_user where you lack something.",
  tools: [reimburse, requestTimeOff, sendEmail, editFile, deploy, askUser()],
});
