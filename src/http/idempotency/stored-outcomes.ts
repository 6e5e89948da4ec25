import type { Context } from "hono";
import { judgeOnce, type Ledger, type StoredRefusal, type UsedUp, valueDigest } from "../../engine/index.ts";
import { CountersignError, type JsonValue } from "../../protocol/index.ts";
import type { HttpEnv } from "../env.ts";
import { statusOf } from "../problems.ts";
import { idempotencyId, idempotencyKey, keyExpiresAt } from "./idempotency.ts";

/** A decision, or a vote that was taken back, as it was judged. */
interface Judged {
  readonly ok: true;
  readonly repeated: boolean;
}

/**
 * The outcomes of decisions with a key. The same request again gets the same refusal, or what it decided as that is now,
 * and is not judged again: a retry must not decide something after a vote was withdrawn or a rule was changed. Without a
 * key nothing is stored.
 */
export class StoredOutcomes {
  readonly #context: Context<HttpEnv>;
  readonly #ledger: Ledger;
  readonly #request: { readonly route: string; readonly said: JsonValue };

  constructor(
    context: Context<HttpEnv>,
    ledger: Ledger,
    request: { readonly route: string; readonly said: JsonValue },
  ) {
    this.#context = context;
    this.#ledger = ledger;
    this.#request = request;
  }

  /**
   * Judges the decision at this place of the request, unless its outcome is known: then throws the same refusal, or returns
   * what `again` reads.
   */
  async judgeOnce<T extends Judged>(
    place: number,
    { judge, again }: { readonly judge: (uses?: UsedUp) => Promise<T>; readonly again: () => Promise<T> },
  ): Promise<T> {
    const key = idempotencyKey(this.#context);
    if (key === undefined) return judge();
    const { route, said } = this.#request;
    // By its content too: the key is free for another request before this is forgotten.
    const digest = valueDigest(this.#ledger.digestKey, said);
    const id = idempotencyId(this.#context.get("principal"), route, key, String(place), digest);
    const judged = await judgeOnce<T>(
      this.#ledger,
      { id, expiresAt: keyExpiresAt() },
      { judge: (uses) => judge(uses).catch(toRefusal), again },
    );
    if (judged.ok) return judged;
    const { code, message, details } = judged;
    throw new CountersignError(code, message, details === undefined ? {} : { details });
  }
}

// What passes is not a refusal.
function toRefusal(error: unknown): StoredRefusal {
  const status = statusOf(error);
  if (!CountersignError.isInstance(error) || status >= 500 || status === 429) throw error;
  if (error.code === "suspended") throw error;
  const { code, message, details } = error;
  return { ok: false, code, message, details: { ...details } };
}
