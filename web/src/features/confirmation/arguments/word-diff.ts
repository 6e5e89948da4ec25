import { commonSequence } from "./line-diff.ts";

/** A stretch of a line, and whether it differs from the other line. */
export interface WordStretch {
  readonly text: string;
  readonly isChanged: boolean;
}

const MOST_WORDS = 400;

/** What differs between two lines, by words. Undefined where they have too little in common for that to help. */
export function wordDiff(
  before: string,
  after: string,
): { readonly before: readonly WordStretch[]; readonly after: readonly WordStretch[] } | undefined {
  const old = wordsOf(before);
  const young = wordsOf(after);
  if (old.length > MOST_WORDS || young.length > MOST_WORDS) return undefined;
  const kept = commonSequence(old, young);
  const shared = kept.reduce((count, [index]) => count + (old[index]?.trim() === "" ? 0 : 1), 0);
  if (shared === 0) return undefined;
  return {
    before: stretches(old, new Set(kept.map(([index]) => index))),
    after: stretches(young, new Set(kept.map(([, index]) => index))),
  };
}

function wordsOf(line: string): readonly string[] {
  return line.match(/[\p{L}\p{M}\p{N}_]+|\s+|./gu) ?? [];
}

function stretches(words: readonly string[], kept: ReadonlySet<number>): readonly WordStretch[] {
  const found: { text: string; isChanged: boolean }[] = [];
  for (const [index, text] of words.entries()) {
    const isChanged = !kept.has(index);
    const last = found.at(-1);
    if (last?.isChanged === isChanged) last.text += text;
    else found.push({ text, isChanged });
  }
  return found;
}
