import { createInterface } from "node:readline";
import type { Ledger } from "../../engine/index.ts";

/** How a person at the terminal, or somebody elsewhere, answered. */
export type Answer = "approve" | "deny" | "decided-elsewhere" | "left" | "interrupted";

const WORDS: { readonly [word: string]: "approve" | "deny" } = {
  y: "approve",
  yes: "approve",
  approve: "approve",
  n: "deny",
  no: "deny",
  deny: "deny",
};

/** Asks until there is a yes or a no, the question was decided elsewhere, or the person leaves. */
export async function askHere(
  ledger: Ledger,
  confirmationId: string,
  stdin: NodeJS.ReadStream,
): Promise<Answer> {
  const terminal = createInterface({ input: stdin, output: process.stdout, prompt: "Approve? [y/n] " });
  const { promise: answered, resolve: answer } = Promise.withResolvers<Answer>();
  const interrupt = (): void => answer("interrupted");
  terminal.on("line", (line) => {
    const word = line.trim().toLowerCase();
    const verdict = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
    if (verdict === undefined) terminal.prompt();
    else answer(verdict);
  });
  terminal.on("SIGINT", interrupt);
  terminal.on("close", () => answer("left"));
  process.once("SIGINT", interrupt);
  const stopWatching = watch(ledger, confirmationId, () => answer("decided-elsewhere"));
  terminal.prompt();
  try {
    return await answered;
  } finally {
    stopWatching();
    process.off("SIGINT", interrupt);
    terminal.close();
  }
}

/** Calls back once when the question is no longer open. */
function watch(ledger: Ledger, confirmationId: string, onClosed: () => void): () => void {
  const look = async (): Promise<void> => {
    const snapshot = await ledger.load({ confirmation: confirmationId });
    if (snapshot?.confirmation?.status !== "requested") onClosed();
  };
  // A look that fails is made up by the next change; the person at the terminal can always answer.
  return ledger.onChange(() => {
    look().catch(() => {});
  });
}
