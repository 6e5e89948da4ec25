import { spawn } from "node:child_process";
import type { Engine } from "../../../src/engine/index.ts";
import { tryApprove } from "../../../src/engine/testing/try-decide.ts";
import { program } from "../../e2e/mcp/gateway-process.ts";

const CONFORMANCE = program("@modelcontextprotocol/conformance");

/** What MCP's own suite says of a server, by scenario: how many checks passed and failed. It writes into this folder. */
export type Outcomes = Readonly<Record<string, string>>;

export async function conform(url: string, folder: string): Promise<Outcomes> {
  const child = spawn(process.execPath, [CONFORMANCE, "server", "--url", url], { cwd: folder });
  let printed = "";
  child.stdout.on("data", (chunk: Buffer) => {
    printed += chunk.toString();
  });
  await new Promise((resolve) => child.once("close", resolve));
  const lines = printed.matchAll(/^[✓✗] ([\w-]+): (\d+ passed, \d+ failed)$/gm);
  return Object.fromEntries(Array.from(lines, ([, name = "", outcome = ""]) => [name, outcome]));
}

/** The scenarios of which a check failed. */
export function failed(outcomes: Outcomes): readonly string[] {
  return Object.entries(outcomes).flatMap(([name, outcome]) => (outcome.endsWith(" 0 failed") ? [] : [name]));
}

/** A person who approves everything that is asked, as it comes, until told to stop. */
export function approveAll(engine: Engine): {
  readonly approved: () => number;
  readonly stop: () => Promise<void>;
} {
  let approved = 0;
  const look = async (): Promise<void> => {
    for (const { confirmation } of (await engine.ledger.confirmations({ state: "open" })).items) {
      const decided = await tryApprove(engine, confirmation.id, { by: { id: "ana" } });
      if (decided.ok && !decided.repeated) approved += 1;
    }
  };
  let looking = Promise.resolve();
  const forget = engine.ledger.onChange(() => {
    looking = looking.then(look);
  });
  return {
    approved: () => approved,
    stop: async () => {
      forget();
      await looking;
    },
  };
}
