import { setTimeout as sleep } from "node:timers/promises";
import type { Folder } from "../support/processes/command-line.ts";

/** An agent whose gated tool writes what it does to `effects.log`, and ends when there is a file `go`. */
const AGENT = `
import { appendFileSync, existsSync } from "node:fs";
import { Agent, tool } from "countersign";
import { scripted } from "countersign/models/scripted";

const pay = tool({
  name: "pay",
  description: "Pays.",
  parameters: { type: "object", properties: { amount: { type: "number" } } },
  requireConfirmation: true,
  execute: async ({ amount }: { amount: number }) => {
    appendFileSync("effects.log", "start " + amount + "\\n");
    while (!existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 20));
    appendFileSync("effects.log", "end " + amount + "\\n");
    return { paid: amount };
  },
});
const model = scripted(({ contents }) => {
  const last = contents.at(-1)?.parts ?? [];
  const result = last.find((part) => part.functionResponse)?.functionResponse?.response;
  if (result) return "It said " + JSON.stringify(result);
  const amount = Number(/\\d+/.exec(last[0]?.text ?? "")?.[0]);
  return amount ? [{ functionCall: { name: "pay", args: { amount } } }] : "How much?";
});
export const rootAgent = new Agent({ name: "Payer", model, tools: [pay] });
`;

/** Writes the agent as `agents/payer`. */
export function writePayer(folder: Folder): void {
  folder.write("agents/payer/agent.ts", AGENT);
}

/** Asks for an amount and leaves; the id of the question that waits. */
export function askToPay(folder: Folder, amount: number): string {
  const { stdout } = folder.run(["run", "agents/payer", "--user", "ana", "--json"], {}, `Pay ${amount}\n`);
  const [, id = ""] = /"id":"(adk-[0-9a-z]+)","callId"/.exec(stdout) ?? [];
  return id;
}

/** Resolves when a file of the folder holds the text. */
export async function untilWritten(folder: Folder, file: string, text: string): Promise<void> {
  while (!folder.read(file).includes(text)) await sleep(20);
}
