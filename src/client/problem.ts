import type { ErrorCode, Problem } from "../protocol/index.ts";

/** A refusal of the server. `code` is absent if the answer was not a problem document. */
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

/** The problem in a response; made up from the status if the body has none. */
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
