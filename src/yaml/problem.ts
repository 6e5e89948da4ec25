import { CountersignError } from "../protocol/index.ts";

/** A problem in a file: where it is, and how to fix it. */
export interface YamlProblem {
  readonly file: string;
  /** Both count from one. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** A problem as one line: file:line:column: message. */
export function problemText({ file, line, column, message }: YamlProblem): string {
  return `${file}:${line}:${column}: ${message}`;
}

/** All problems, one line each. */
export function problemsError(problems: readonly YamlProblem[]): CountersignError {
  return new CountersignError("invalid-option", problems.map(problemText).join("\n"), {
    details: { problems: problems.map((problem) => ({ ...problem })) },
  });
}
