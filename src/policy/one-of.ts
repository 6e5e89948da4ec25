import { isScalar, type Node, type YamlSource } from "../yaml/index.ts";

/** One of these words. */
export function oneOf<Word extends string>(
  source: YamlSource,
  node: Node | undefined,
  what: string,
  words: readonly Word[],
): Word | undefined {
  if (node === undefined) return undefined;
  const given: unknown = isScalar(node) ? node.value : undefined;
  const word = words.find((known) => known === given);
  return word ?? source.problem(node, `${what} must be one of ${words.join(", ")}`);
}
