export interface DiffLine {
  readonly kind: "same" | "removed" | "added";
  readonly text: string;
}

/** More lines than this are not compared one by one: everything is shown as replaced. */
const MOST_LINES = 2000;

/** What changes between two texts, by lines: a longest common subsequence, after what both ends share. */
export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const old = before.split("\n");
  const young = after.split("\n");
  let head = 0;
  while (head < old.length && head < young.length && old[head] === young[head]) head += 1;
  let tail = 0;
  while (
    tail < old.length - head &&
    tail < young.length - head &&
    old[old.length - 1 - tail] === young[young.length - 1 - tail]
  ) {
    tail += 1;
  }
  const middle = middleDiff(old.slice(head, old.length - tail), young.slice(head, young.length - tail));
  return [
    ...old.slice(0, head).map((text): DiffLine => ({ kind: "same", text })),
    ...middle,
    ...old.slice(old.length - tail).map((text): DiffLine => ({ kind: "same", text })),
  ];
}

const removed = (text: string): DiffLine => ({ kind: "removed", text });
const added = (text: string): DiffLine => ({ kind: "added", text });

function middleDiff(old: readonly string[], young: readonly string[]): readonly DiffLine[] {
  if (old.length * young.length > MOST_LINES * MOST_LINES) return [...old.map(removed), ...young.map(added)];
  const lines: DiffLine[] = [];
  let [row, column] = [0, 0];
  for (const [nextRow, nextColumn] of commonSequence(old, young)) {
    lines.push(...old.slice(row, nextRow).map(removed), ...young.slice(column, nextColumn).map(added));
    lines.push({ kind: "same", text: old[nextRow] ?? "" });
    [row, column] = [nextRow + 1, nextColumn + 1];
  }
  return [...lines, ...old.slice(row).map(removed), ...young.slice(column).map(added)];
}

/** The places, in both lists, of a longest sequence that they have in common. */
export function commonSequence(
  old: readonly string[],
  young: readonly string[],
): readonly (readonly [number, number])[] {
  const lengths = commonLengths(old, young);
  const places: (readonly [number, number])[] = [];
  let [row, column] = [0, 0];
  while (row < old.length && column < young.length) {
    if (old[row] === young[column]) places.push([row++, column++]);
    else if ((lengths[row + 1]?.[column] ?? 0) >= (lengths[row]?.[column + 1] ?? 0)) row += 1;
    else column += 1;
  }
  return places;
}

/** `lengths[i][j]`: how much the rest of both texts, from line i and line j on, has in common. */
function commonLengths(old: readonly string[], young: readonly string[]): readonly Uint16Array[] {
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint16Array(young.length + 1));
  for (let row = old.length - 1; row >= 0; row -= 1) {
    const here = lengths[row];
    const below = lengths[row + 1];
    if (here === undefined || below === undefined) continue;
    for (let column = young.length - 1; column >= 0; column -= 1) {
      here[column] =
        old[row] === young[column]
          ? (below[column + 1] ?? 0) + 1
          : Math.max(below[column] ?? 0, here[column + 1] ?? 0);
    }
  }
  return lengths;
}
