import type { ErrorCode, Problem } from "../protocol/index.ts";

/** What the server refused, in its words. Where it gave no reason of its own, `code` is absent. */
export class CountersignProblem extends Error {
  override readonly name = "CountersignProblem";
  readonly status: number;
  readonly code: ErrorCode | undefined;
  readonly field: string | undefined;
  readonly hint: string | undefined;
  readonly requestId: string | undefined;

  constructor(
    status: number,
    problem: Partial<Problem> & { readonly requestId?: string; readonly error?: string },
  ) {
    super(problem.detail ?? problem.error ?? problem.title ?? `The server answered ${status}.`);
    this.status = status;
    this.code = problem.code;
    this.field = problem.field;
    this.hint = problem.hint;
    this.requestId = problem.requestId;
  }
}

/** The problem that a response tells of; whatever its body is, there is one. */
export async function problemOf(response: Response): Promise<CountersignProblem> {
  const text = await response.text().catch(() => "");
  let told: unknown;
  try {
    told = JSON.parse(text);
  } catch {
    told = {};
  }
  return new CountersignProblem(response.status, typeof told === "object" && told !== null ? told : {});
}
