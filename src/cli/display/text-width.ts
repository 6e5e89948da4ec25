import stringWidth from "string-width";

const GRAPHEMES = new Intl.Segmenter("en", { granularity: "grapheme" });
// Number signs of Arabic and other scripts: visible, but part of the following letter.
const AFTER_SIGN = /(?<=[\p{Cf}--\p{Default_Ignorable_Code_Point}])/v;
const ASCII = /^[\x20-\x7E]*$/;

/** How many columns a terminal uses for the text. */
export function textWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
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
  for (const part of text.split(AFTER_SIGN)) for (const { segment } of GRAPHEMES.segment(part)) yield segment;
}

// At least one: terminals disagree, and a line that is too short is harmless.
function columnsOf(grapheme: string): number {
  return Math.max(1, stringWidth(grapheme));
}
