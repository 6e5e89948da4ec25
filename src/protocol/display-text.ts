/** How {@link displayText} treats a text. */
export interface DisplayTextOptions {
  /** Characters shown at most; a note says how many more there are. Unlimited unless given. */
  readonly maxLength?: number;
  /** `"show"` writes newlines and tabs visibly too, for one-line places. They are kept unless given. */
  readonly newlines?: "keep" | "show";
}

const MAX_BLANKS = 24;
const MAX_BLANK_LINES = 4;
const MAX_MARKS = 4;

interface CharacterClass {
  readonly pattern: string;
  readonly show: (match: string) => string;
}

/** Tried in this order at each place; what no class matches stays as it is. */
const CLASSES: { readonly [name: string]: CharacterClass } = {
  /** Whole emoji first: joiners, selectors and tags inside them are not hidden text. */
  emoji: { pattern: String.raw`\p{RGI_Emoji}`, show: (match) => match },
  blankLines: {
    pattern: String.raw`\r?\n(?:[ \t]*\r?\n){${MAX_BLANK_LINES + 1},}`,
    show: (match) => `\n⟨${match.split("\n").length - 2} blank lines⟩\n`,
  },
  windowsNewline: { pattern: String.raw`\r\n`, show: () => "\n" },
  blanks: {
    pattern: String.raw`[ \t]{${MAX_BLANKS + 1},}`,
    show: (match) => `⟨${match.length} blanks⟩`,
  },
  /** A combining mark at the start would change the character before the text. */
  strayMark: { pattern: String.raw`(?<=^|\n)[\p{M}--\p{Default_Ignorable_Code_Point}]`, show: codePoints },
  markPile: {
    pattern: String.raw`[\p{M}--\p{Default_Ignorable_Code_Point}]{${MAX_MARKS + 1},}`,
    show: (match) => {
      const marks = Array.from(match);
      return `${marks.slice(0, MAX_MARKS).join("")}⟨${marks.length - MAX_MARKS} more marks⟩`;
    },
  },
  /** C0, DEL and C1 but newline and tab: escape sequences begin here. */
  control: { pattern: String.raw`[\p{Cc}--[\n\t]]`, show: codePoints },
  bidi: { pattern: String.raw`\p{Bidi_Control}`, show: codePoints },
  /** Nothing is drawn for these. Numeral signs of Arabic and others are format characters that are drawn. */
  invisible: {
    pattern: String.raw`[[\p{Default_Ignorable_Code_Point}\p{Cf}]--[\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}]]`,
    show: codePoints,
  },
  /** Blanks of other widths, the Braille blank, and what ends lines in some places only. */
  padding: { pattern: String.raw`[[\p{Z}\u2800]--[ ]]`, show: codePoints },
  /** Lone surrogates, private use, unassigned: each reader draws something else. */
  unspecified: { pattern: String.raw`[\p{Cs}\p{Co}\p{Cn}]`, show: codePoints },
  /** Our own bracket: a text cannot pretend that we wrote a note. */
  bracket: { pattern: "⟨", show: codePoints },
};

const RULES: readonly CharacterClass[] = Object.values(CLASSES);
const HARMLESS = /^[\x20-\x7E\n\t]*$/;
const PADDED = new RegExp(String.raw`[ \t]{${MAX_BLANKS + 1}}|\n\s*\n\s*\n`);

let token: RegExp | undefined;

/** Any of the classes. Made when a text first needs it: the table of all emoji takes longer than most commands. */
function tokenPattern(): RegExp {
  token ??= new RegExp(RULES.map(({ pattern }) => `(${pattern})`).join("|"), "gv");
  return token;
}

/**
 * The text as it may be shown to a person who is to approve it. Whatever would hide, reorder, erase or push out
 * of sight is written as `⟨U+202E⟩` or told in a note; letters of every script, accents, emoji, single newlines
 * and tabs stay. Never yields a control character but those two, nor a lone surrogate. Not an escape for markup:
 * who renders HTML or CSV still escapes. Texts that differ are shown differently, except `\r\n` and notes.
 */
export function displayText(text: string, options: DisplayTextOptions = {}): string {
  const { maxLength, newlines = "keep" } = options;
  const isHarmless = HARMLESS.test(text) && !PADDED.test(text);
  const pieces = isHarmless ? [ordinary(text)] : visiblePieces(text);
  const flat = newlines === "show" ? pieces.flatMap(withoutNewlines) : pieces;
  return maxLength === undefined ? flat.map((piece) => piece.shown).join("") : cut(flat, maxLength);
}

/** A stretch of the text and what is shown for it. What is whole must not be cut in two. */
interface Piece {
  readonly source: string;
  readonly shown: string;
  readonly isWhole: boolean;
}

function ordinary(source: string): Piece {
  return { source, shown: source, isWhole: false };
}

function visiblePieces(text: string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(tokenPattern())) {
    const [source, ...groups] = match;
    const rule = RULES[groups.findIndex((group) => group !== undefined)];
    pieces.push(ordinary(text.slice(end, match.index)));
    pieces.push({ source, shown: rule?.show(source) ?? codePoints(source), isWhole: true });
    end = match.index + source.length;
  }
  pieces.push(ordinary(text.slice(end)));
  return pieces;
}

function withoutNewlines(piece: Piece): Piece[] {
  if (piece.isWhole) return [{ ...piece, shown: piece.shown.replace(/[\n\t]/g, codePoints) }];
  return piece.source
    .split(/([\n\t])/)
    .map((stretch) =>
      /^[\n\t]$/.test(stretch)
        ? { source: stretch, shown: codePoints(stretch), isWhole: true }
        : ordinary(stretch),
    );
}

function cut(pieces: readonly Piece[], maxLength: number): string {
  let shown = "";
  let room = maxLength;
  let hidden = 0;
  for (const piece of pieces) {
    const length = lengthOf(piece.shown);
    if (hidden === 0 && length <= room) {
      shown += piece.shown;
      room -= length;
    } else if (hidden === 0 && !piece.isWhole) {
      shown += Array.from(piece.shown).slice(0, room).join("");
      hidden += length - room;
    } else {
      hidden += lengthOf(piece.source);
    }
  }
  return hidden === 0 ? shown : `${shown}… ⟨${hidden} more characters⟩`;
}

/** In code points, so that no pair is cut in two. */
function lengthOf(text: string): number {
  return Array.from(text).length;
}

function codePoints(match: string): string {
  return Array.from(match, (character) => {
    const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    return `⟨U+${hex}⟩`;
  }).join("");
}
