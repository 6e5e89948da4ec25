import type { ReactNode } from "react";
import { Words } from "../../../ui/words.tsx";
import { type DiffLine, lineDiff } from "./line-diff.ts";
import { type WordStretch, wordDiff } from "./word-diff.ts";

const MARKS = { same: " ", removed: "−", added: "+" } as const;
const NAMES = { same: "", removed: "removed: ", added: "added: " } as const;

interface NumberedLine extends DiffLine {
  readonly old?: number;
  readonly young?: number;
  readonly words?: readonly WordStretch[];
}

/** Two texts as what changes between them, with the numbers of the lines; the words that differ are marked. */
export function DiffView({ before, after }: { readonly before: string; readonly after: string }): ReactNode {
  return (
    <div className="diff" role="group" aria-label="What changes">
      {numbered(lineDiff(before, after)).map((line, index) => (
        <div className={`diff-line diff-${line.kind}`} key={index}>
          <span className="diff-number" aria-hidden="true">
            {line.old}
          </span>
          <span className="diff-number" aria-hidden="true">
            {line.young}
          </span>
          <span aria-hidden="true">{MARKS[line.kind]}</span>
          <span>
            <span className="sr-only">{NAMES[line.kind]}</span>
            <LineText line={line} />
          </span>
        </div>
      ))}
    </div>
  );
}

function LineText({ line: { text, words } }: { readonly line: NumberedLine }): ReactNode {
  if (words === undefined) return <Words text={text} block />;
  return (
    <span className="diff-words">
      {words.map((stretch, index) => (
        <span key={index} className={stretch.isChanged ? "diff-word" : undefined}>
          <Words text={stretch.text} block />
        </span>
      ))}
    </span>
  );
}

/** Gives the lines their numbers, and compares a removed line with the added one that follows in its place. */
function numbered(lines: readonly DiffLine[]): readonly NumberedLine[] {
  let [old, young] = [0, 0];
  const found: NumberedLine[] = lines.map((line) => ({
    ...line,
    ...(line.kind === "added" ? {} : { old: ++old }),
    ...(line.kind === "removed" ? {} : { young: ++young }),
  }));
  for (let start = 0; start < found.length; ) {
    const removed = runOf(found, start, "removed");
    const added = runOf(found, start + removed, "added");
    for (let at = 0; at < Math.min(removed, added); at += 1) compare(found, start + at, start + removed + at);
    start += Math.max(1, removed + added);
  }
  return found;
}

function runOf(lines: readonly DiffLine[], start: number, kind: DiffLine["kind"]): number {
  let count = 0;
  while (lines[start + count]?.kind === kind) count += 1;
  return count;
}

function compare(lines: NumberedLine[], old: number, young: number): void {
  const [removed, added] = [lines[old], lines[young]];
  if (removed === undefined || added === undefined) return;
  const words = wordDiff(removed.text, added.text);
  if (words === undefined) return;
  lines[old] = { ...removed, words: words.before };
  lines[young] = { ...added, words: words.after };
}
