import { isScalar, type Node } from "yaml";

/**
 * Where in a file a character of a text node is. Exact for text that is in the file as it is; for text that YAML
 * changes (folded lines, escapes), the beginning of the node.
 */
export function placeInText(file: string, node: Node, offset: number): number {
  const [start, end] = [node.range?.[0] ?? 0, node.range?.[1] ?? 0];
  if (!isScalar(node) || typeof node.value !== "string") return start;
  const written = file.slice(start, end);
  const at = written.indexOf(node.value);
  if (at >= 0) return start + at + offset;
  return node.type === "BLOCK_LITERAL" ? inBlock(file, { start, end }, node.value, offset) : start;
}

function inBlock(
  file: string,
  { start, end }: { readonly start: number; readonly end: number },
  text: string,
  offset: number,
): number {
  const before = text.slice(0, offset).split("\n");
  let line = file.indexOf("\n", start) + 1;
  for (let i = 1; i < before.length; i++) line = file.indexOf("\n", line) + 1;
  const content = text.split("\n")[before.length - 1] ?? "";
  const column = file.slice(line, end).indexOf(content);
  return column < 0 ? start : line + column + (before.at(-1)?.length ?? 0);
}
