import type { ErrorCode } from "./error-code.ts";
import type { JsonObject } from "./json.ts";

const BRAND = Symbol.for("countersign.error");

/**
 * The one error class, for misuse, broken storage and broken invariants; expected outcomes are values. `details` is
 * plain JSON and safe to show. Use {@link CountersignError.isInstance} instead of `instanceof`: it also recognises
 * errors of a second installed copy.
 */
export class CountersignError extends Error {
  override readonly name: string = "CountersignError";
  readonly code: ErrorCode;
  readonly details: JsonObject;

  constructor(code: ErrorCode, message: string, options: { details?: JsonObject; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    Object.defineProperty(this, BRAND, { value: true });
    this.code = code;
    this.details = options.details ?? {};
  }

  static isInstance(error: unknown): error is CountersignError {
    return typeof error === "object" && error !== null && BRAND in error;
  }
}
