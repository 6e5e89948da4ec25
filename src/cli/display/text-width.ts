import { createRequire } from "node:module";
import type stringWidth from "string-width";

// Number signs of Arabic and other scripts: visible, but part of the following letter.
const AFTER_SIGN = /(?<=[\p{Cf}--\p{Default_Ignorable_Code_Point}])/v;
/** Characters of one column each: all of most texts, and what our own texts have beside ASCII. */
const PLAIN = /^[\x20-\x7E·–…←→│]*$/;

/** What measures the other texts. */
interface Ruler {
  readonly graphemes: Intl.Segmenter;
  readonly columns: (text: string) => number;
}

const require = createRequire(import.meta.url);
let ruler: Ruler | undefined;

/** Made when a text first needs it: its tables of characters take longer than most commands. */
function rulerOnceNeeded(): Ruler {
  ruler ??= {
    graphemes: new Intl.Segmenter("en", { granularity: "grapheme" }),
    columns: (require("string-width") as { readonly default: typeof stringWidth }).default,
  };
  return ruler;
}

/** How many columns a terminal uses for the text. */
export function textWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const grapheme of graphemesOf(text)) width += columnsOf(grapheme);
  return width;
}

/** Spaces after the text until it is this wide. */
export function padTo(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - textWidth(text)));
}

/** The text, or as much of its start as fits, with an ellipsis where something is left out. */
export function cutTo(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let kept = "";
  let room = width - 1;
  for (const grapheme of graphemesOf(text)) {
    room -= columnsOf(grapheme);
    if (room < 0) break;
    kept += grapheme;
  }
  return `${kept}…`;
}

/** Wraps at spaces if possible, and inside words that are longer than a line. Keeps newlines. */
export function wrapTo(text: string, width: number): readonly string[] {
  return text.split("\n").flatMap((line) => wrapLine(line, width));
}

function wrapLine(line: string, width: number): readonly string[] {
  const lines: string[] = [];
  let current = "";
  for (const word of line.split(/(?<=[ \t])/)) {
    if (textWidth(current) + textWidth(word.trimEnd()) <= width) {
      current += word;
      continue;
    }
    if (current.trim() !== "") {
      lines.push(current.trimEnd());
      current = "";
    }
    const pieces = piecesOf(current + word, width);
    lines.push(...pieces.slice(0, -1));
    current = pieces.at(-1) ?? "";
  }
  return [...lines, current.trimEnd()];
}

function piecesOf(word: string, width: number): readonly string[] {
  const pieces: string[] = [];
  let piece = "";
  for (const grapheme of graphemesOf(word)) {
    if (piece !== "" && textWidth(piece) + columnsOf(grapheme) > width) {
      pieces.push(piece);
      piece = "";
    }
    piece += grapheme;
  }
  return [...pieces, piece];
}

function* graphemesOf(text: string): Generator<string> {
  if (PLAIN.test(text)) {
    yield* text;
    return;
  }
  const { graphemes } = rulerOnceNeeded();
  for (const part of text.split(AFTER_SIGN)) for (const { segment } of graphemes.segment(part)) yield segment;
}

// At least one: terminals disagree, and a line that is too short is harmless.
function columnsOf(grapheme: string): number {
  return PLAIN.test(grapheme) ? 1 : Math.max(1, rulerOnceNeeded().columns(grapheme));
}
