/**
 * Files in YAML (or JSON), read strictly and with the line and column of every problem. Decided here: that a member
 * that is not known is a problem, what a text, a list and a time are, and how a problem is told. What a file means is
 * decided by its readers: manifests and policies.
 */

export { isMap, isScalar, isSeq, type Node } from "yaml";
export { problemsError, problemText, type YamlProblem } from "./problem.ts";
export { Members, YamlSource } from "./source.ts";
