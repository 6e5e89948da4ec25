import { CountersignError } from "./countersign-error.ts";
import { ERROR_CODES, type ErrorCode } from "./error-code.ts";
import { isJsonObject, member } from "./json.ts";

/** An error as `application/problem+json` (RFC 9457). `code` is stable; the sentences are not. */
export interface Problem {
  /** A URN made of the code: an identity, not an address. */
  readonly type: string;
  /** What the code means, always the same for one code. */
  readonly title: string;
  readonly status: number;
  /** What was wrong this time. */
  readonly detail: string;
  readonly code: ErrorCode;
  /** The offending member, where there is one. */
  readonly field?: string;
  /** What to do about it. */
  readonly hint?: string;
}

/**
 * The problem document of an error. A {@link CountersignError}, or a refusal with a known code, keeps its message, with
 * `field` (or `path`) and `hint` if it has them. Anything else becomes `internal`, without details.
 */
export function toProblem(error: unknown, status: number): Problem {
  const code = codeOf(error);
  const title = ERROR_CODES[code ?? "internal"];
  const problem = { type: `urn:countersign:error:${code ?? "internal"}`, title, status };
  if (code === undefined || !isJsonObject(error)) return { ...problem, detail: title, code: "internal" };
  const details = isJsonObject(error["details"]) ? error["details"] : {};
  const field = textOf(member(details, "field")) ?? textOf(error["field"]) ?? textOf(error["path"]);
  const hint = textOf(member(details, "hint")) ?? textOf(error["hint"]);
  return {
    ...problem,
    detail: textOf(error["message"]) ?? title,
    code,
    ...(field === undefined ? {} : { field }),
    ...(hint === undefined ? {} : { hint }),
  };
}

function codeOf(error: unknown): ErrorCode | undefined {
  if (!isJsonObject(error)) return undefined;
  // Errors of other libraries have codes and messages too; ours are the branded ones and plain outcomes.
  if (error instanceof Error && !CountersignError.isInstance(error)) return undefined;
  const code: unknown = error["code"];
  return typeof code === "string" && Object.hasOwn(ERROR_CODES, code) ? (code as ErrorCode) : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
