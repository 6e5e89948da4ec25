import type { PolicySource } from "../engine/index.ts";
import { problemsError, type YamlProblem } from "../yaml/index.ts";
import { toPolicySource } from "./policy-source.ts";
import { runTests } from "./policy-tests.ts";
import { type PolicySurroundings, readPolicy } from "./read-policy.ts";

/** A policy file's ids and problems, for people who edit it. */
export interface PolicyReport {
  /** Undefined if the file has problems other than failed tests. */
  readonly version?: string;
  readonly rules: number;
  readonly tests: number;
  /** In the file. */
  readonly problems: readonly YamlProblem[];
  /** Failures of the policy's own tests. */
  readonly failures: readonly YamlProblem[];
}

/** Checks a policy file and runs its tests. */
export function checkPolicy(name: string, text: string, around: PolicySurroundings = {}): PolicyReport {
  const read = readPolicy(name, text, around);
  if (!read.ok) return { rules: 0, tests: 0, problems: read.problems, failures: [] };
  const { file, tests } = read;
  const failures = runTests(toPolicySource(file), tests);
  return { version: file.version, rules: file.rules.length, tests: tests.length, problems: [], failures };
}

/**
 * The policy in a file's text. Throws `invalid-option` with every problem and its line and column; a test of the file
 * that fails is one too, and so is a channel in `notify` that is not among those given.
 */
export function parsePolicy(name: string, text: string, around: PolicySurroundings = {}): PolicySource {
  const read = readPolicy(name, text, around);
  if (!read.ok) throw problemsError(read.problems);
  const policy = toPolicySource(read.file);
  const failures = runTests(policy, read.tests);
  if (failures.length > 0) throw problemsError(failures);
  return policy;
}
