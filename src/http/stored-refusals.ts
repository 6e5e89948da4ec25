import type { Context } from "hono";
import type { Ledger } from "../engine/index.ts";
import { CountersignError, type JsonValue } from "../protocol/index.ts";
import type { HttpEnv } from "./env.ts";
import { idempotencyId, idempotencyKey, keyExpiresAt } from "./idempotency.ts";
import { statusOf } from "./problems.ts";

const KIND = "idempotency-refusal";

/**
 * Stores the refusals of decisions with a key. The same request again gets the same refusal and is not judged again: a
 * retry must not decide something after somebody changed a rule. Without a key nothing is stored.
 */
export class StoredRefusals {
  readonly #context: Context<HttpEnv>;
  readonly #ledger: Ledger;
  readonly #route: string;

  constructor(context: Context<HttpEnv>, ledger: Ledger, route: string) {
    this.#context = context;
    this.#ledger = ledger;
    this.#route = route;
  }

  /** Judges the decision at this place of the request, unless it was refused before: then throws the same refusal. */
  async judgeOnce<T>(place: number, judge: () => Promise<T>): Promise<T> {
    const key = idempotencyKey(this.#context);
    if (key === undefined) return judge();
    const id = idempotencyId(this.#context.get("principal"), this.#route, key, String(place));
    const kept = await this.#ledger.items.get(KIND, id);
    if (kept !== undefined) throw errorIn(kept.value);
    try {
      return await judge();
    } catch (error) {
      if (CountersignError.isInstance(error) && isRefusal(error)) {
        const { code, message, details } = error;
        await this.#ledger.items.put(
          { kind: KIND, id, value: { code, message, details }, expiresAt: keyExpiresAt() },
          0,
        );
      }
      throw error;
    }
  }
}

// A temporary error is not a refusal.
function isRefusal(error: CountersignError): boolean {
  const status = statusOf(error);
  return status < 500 && status !== 429;
}

// Written only above.
function errorIn(value: JsonValue): CountersignError {
  const { code, message, details } = value as unknown as CountersignError;
  return new CountersignError(code, message, { details });
}
