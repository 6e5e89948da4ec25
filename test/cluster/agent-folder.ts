import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

const LOOK_MS = 20;

/**
 * Two gated tools that note what they do: `pay`, and `sync`, which may be repeated. From 1000 on they, and the model when it
 * is told to `think`, end only when there is a file of that number.
 */
const AGENT = `
import { appendFileSync, existsSync } from "node:fs";
import { Agent, tool } from "countersign";
import { scripted } from "countersign/models/scripted";

const note = (line) => appendFileSync("effects.jsonl", JSON.stringify({ ...line, pid: process.pid }) + "\\n");
const released = async (number) => {
  while (number >= 1000 && !existsSync("go-" + number)) await new Promise((resolve) => setTimeout(resolve, 20));
};
const gated = (name, more) =>
  tool({
    name,
    description: "Does it.",
    parameters: { type: "object", properties: { number: { type: "number" } } },
    requireConfirmation: true,
    execute: async ({ number }, { idempotencyKey: key }) => {
      note({ tool: name, number, key });
      await released(number);
      return { did: number };
    },
    ...more,
  });
const model = scripted(async ({ contents }) => {
  const last = contents.at(-1)?.parts ?? [];
  const results = last.flatMap(({ functionResponse }) => functionResponse?.response ?? []);
  if (results.length > 0) return results.map((result) => JSON.stringify(result)).join(", ");
  const words = (last[0]?.text ?? "").split(" and ").map((each) => each.split(" "));
  const [[first, number]] = words;
  if (first === "think") {
    note({ tool: "model", number: Number(number) });
    await released(Number(number));
    return "thought of " + number;
  }
  return words.map(([name, number]) => ({ functionCall: { name, args: { number: Number(number) } } }));
});
export const rootAgent = new Agent({
  name: "teller",
  model,
  tools: [gated("pay", {}), gated("sync", { idempotent: true })],
});
`;

/** What a tool, or the model, noted when it began. */
export interface Deed {
  readonly tool: string;
  readonly number: number;
  readonly key?: string;
  readonly pid: number;
}

/** A folder that replicas are started in, with an agent in it, and the world that its tools act upon. */
export class AgentFolder {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async in(folder: string): Promise<AgentFolder> {
    await mkdir(join(folder, "agents/teller"), { recursive: true });
    await writeFile(join(folder, "agents/teller/agent.mjs"), AGENT);
    return new AgentFolder(folder);
  }

  /** What was begun with this number. */
  deeds(number: number): readonly Deed[] {
    const file = join(this.folder, "effects.jsonl");
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Deed)
      .filter((deed) => deed.number === number);
  }

  /** Resolves when something was begun with this number, so many times. */
  async begun(number: number, times = 1): Promise<readonly Deed[]> {
    while (this.deeds(number).length < times) await setTimeout(LOOK_MS);
    return this.deeds(number);
  }

  /** Lets whatever has this number end. */
  release(number: number): void {
    writeFileSync(join(this.folder, `go-${number}`), "");
  }
}
