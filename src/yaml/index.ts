/**
 * Files in YAML (or JSON), read strictly and with the line and column of every problem. Decided here: that an unknown
 * member is a problem, what a text, a list and a time are, and how a problem is reported. What a file means is
 * decided by its readers: manifests and policies.
 */

export { isMap, isScalar, isSeq, type Node } from "yaml";
export { problemsError, problemText, type YamlProblem } from "./problem.ts";
export { Members, YamlSource } from "./source.ts";
