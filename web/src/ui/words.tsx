import { displayText } from "countersign/protocol";
import { memo, type ReactNode } from "react";
import { type MarkedStretch, markedStretches } from "./marked-stretches.ts";

/** About this much text is laid out at once; the rest when it comes into view. */
const CHUNK = 4000;

/** The same for places that take only text: labels, options, titles. */
export function plainWords(text: string): string {
  return displayText(text, { newlines: "show", maxLength: 120 });
}

export interface WordsProps {
  /** As it came; it is made harmless here. */
  readonly text: string;
  /** Several lines, with their breaks; else one, with breaks made visible. */
  readonly block?: boolean;
  readonly maxLength?: number;
}

/** Text that somebody else wrote: never markup, with everything visible that would hide or reorder it. */
export const Words = memo(function Words({ text, block = false, maxLength }: WordsProps): ReactNode {
  const shown = displayText(text, {
    newlines: block ? "keep" : "show",
    ...(maxLength === undefined ? {} : { maxLength }),
  });
  if (!block) {
    return (
      <bdi className="words" dir="auto">
        {marked(shown)}
      </bdi>
    );
  }
  const chunks = chunksOf(shown);
  return (
    <span className="words words-block" dir="auto">
      {chunks.length === 1
        ? marked(shown)
        : chunks.map((chunk, index) => (
            <span className="words-chunk" key={index}>
              {marked(chunk)}
            </span>
          ))}
    </span>
  );
});

/** Cut at line ends where there are any near; else anywhere, but never inside a character. */
function chunksOf(text: string): readonly string[] {
  if (text.length <= CHUNK * 2) return [text];
  const chunks: string[] = [];
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + CHUNK, text.length);
    const lineEnd = text.lastIndexOf("\n", end);
    if (end < text.length && lineEnd > start) end = lineEnd + 1;
    else if (/[\uDC00-\uDFFF]/.test(text.charAt(end))) end -= 1;
    chunks.push(text.slice(start, end));
    start = end;
  }
  return chunks;
}

function marked(text: string): ReactNode {
  const pieces: ReactNode[] = [];
  let end = 0;
  for (const stretch of markedStretches(text)) {
    pieces.push(text.slice(end, stretch.index), markOf(stretch));
    end = stretch.index + stretch.text.length;
  }
  if (pieces.length === 0) return text;
  return [...pieces, text.slice(end)];
}

function markOf({ index, text, scripts }: MarkedStretch): ReactNode {
  if (scripts === undefined) {
    return (
      <span className="words-note" key={index}>
        {text}
      </span>
    );
  }
  return (
    <mark className="words-mixed" key={index} title={`Mixes ${scripts.join(" and ")} letters`}>
      {text}
    </mark>
  );
}
