import { createInterface } from "node:readline/promises";
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
  const terminal = createInterface({ input: stdin, output: process.stdout });
  const { promise: ended, resolve: end } = Promise.withResolvers<Answer>();
  const interrupt = (): void => end("interrupted");
  terminal.on("SIGINT", interrupt);
  terminal.on("close", () => end("left"));
  process.once("SIGINT", interrupt);
  const stopWatching = watch(ledger, confirmationId, () => end("decided-elsewhere"));
  try {
    return await Promise.race([ended, typedAnswer((question) => terminal.question(question))]);
  } finally {
    stopWatching();
    process.off("SIGINT", interrupt);
    terminal.close();
  }
}

async function typedAnswer(question: (text: string) => Promise<string>): Promise<Answer> {
  for (;;) {
    const word = (await question("Approve? [y/n] ")).trim().toLowerCase();
    const answer = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
    if (answer !== undefined) return answer;
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
