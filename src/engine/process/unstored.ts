import { CountersignError } from "../../protocol/index.ts";
import { errorText } from "../common/index.ts";

/** What this process has to store or read, and could not for too long. */
export class Unstored {
  readonly #onError: (error: unknown) => void;
  readonly #late = new Set<{ readonly what: string; readonly reason: string }>();

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Marks work as late ("store the outcome of …"), until the returned function is called. */
  add(what: string, cause: unknown): () => void {
    const late = { what, reason: errorText(cause) };
    this.#late.add(late);
    this.#onError(
      new CountersignError(
        "ledger-unreachable",
        `Cannot ${what} (${late.reason}). Retrying; until it succeeds, this process is not ready.`,
        { cause },
      ),
    );
    return () => void this.#late.delete(late);
  }

  /** Throws while anything is late. */
  check(): void {
    const [first] = this.#late;
    if (first === undefined) return;
    throw new CountersignError("ledger-unreachable", `Cannot ${first.what} (${first.reason}).`);
  }
}
