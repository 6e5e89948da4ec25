import { bytesOf, checkStateKey } from "../../engine/index.ts";
import { CountersignError, type JsonObject, type JsonValue, toJsonValue } from "../../protocol/index.ts";

/**
 * Session, `user:`, `app:` and `temp:` state as a tool or hook sees it. Changes are visible to the tool or hook at once
 * and are committed with its result; without a result they are dropped.
 */
export class State {
  readonly #base: JsonObject;
  readonly #delta = new Map<string, JsonValue>();
  readonly #maxBytes: number;

  constructor(base: JsonObject, maxBytes: number = Number.POSITIVE_INFINITY) {
    this.#base = base;
    this.#maxBytes = maxBytes;
  }

  get(key: string): JsonValue | undefined {
    if (this.#delta.has(key)) return this.#delta.get(key);
    return Object.hasOwn(this.#base, key) ? this.#base[key] : undefined;
  }

  has(key: string): boolean {
    return this.#delta.has(key) || Object.hasOwn(this.#base, key);
  }

  /**
   * Throws `invalid-option` for what is not JSON, `malformed-request` for a key that is too long, `too-large` for more
   * state than a session may see.
   */
  set(key: string, value: JsonValue): void {
    checkStateKey(key);
    const read = toJsonValue(value);
    if (!read.ok) {
      const message = `State values must be JSON, but "${key}" is not: ${read.message}`;
      throw new CountersignError("invalid-option", message, { details: { field: key } });
    }
    if (bytesOf({ ...this.toObject(), [key]: read.value }) > this.#maxBytes) {
      const message = `Setting "${key}" would exceed ${this.#maxBytes} bytes of state (\`maxStateBytes\`).`;
      throw new CountersignError("too-large", message, { details: { field: key } });
    }
    this.#delta.set(key, read.value);
  }

  /** Everything, with what was set here. */
  toObject(): JsonObject {
    return { ...this.#base, ...this.delta() };
  }

  /** What was set here. */
  delta(): JsonObject {
    return Object.fromEntries(this.#delta);
  }
}
