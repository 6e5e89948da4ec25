import { mixedScripts } from "./scripts.ts";

/** A stretch of shown text that a reader must notice. */
export interface MarkedStretch {
  readonly index: number;
  readonly text: string;
  /** The look-alike scripts that a word mixes; absent for one of our own notes. */
  readonly scripts?: readonly string[];
}

// Takes every word whole: looking for a letter inside of one by the pattern would take the square of its length.
const NOTE_OR_WORD = /(⟨[^⟨⟩]*⟩)|[\p{L}\p{M}\p{N}]+/gu;

/** Our notes, and the words that mix scripts, in their order. */
export function* markedStretches(shown: string): Generator<MarkedStretch> {
  for (const { 0: text, 1: note, index } of shown.matchAll(NOTE_OR_WORD)) {
    if (note !== undefined) yield { index, text };
    else {
      const scripts = mixedScripts(text);
      if (scripts.length > 0) yield { index, text, scripts };
    }
  }
}
