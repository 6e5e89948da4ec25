import type { TextKind } from "./what-it-is.ts";

/** A part of a line of code. */
export interface CodePiece {
  readonly text: string;
  readonly of: "word" | "text" | "number" | "comment" | "rest";
}

const SQL_WORDS =
  "select|from|where|insert|into|values|update|set|delete|join|left|right|inner|outer|on|and|or|not|null|is|in|like|as|group|by|order|having|limit|offset|union|all|distinct|create|table|index|alter|drop|truncate|grant|revoke|begin|commit|rollback|with|case|when|then|else|end|exists|between|cascade|returning|interval|using|default";
const CODE_WORDS =
  "if|else|elif|for|while|do|return|function|def|class|const|let|var|import|from|export|new|try|catch|except|finally|throw|raise|async|await|in|of|not|and|or|true|false|null|none|public|private|static|fn|match|use";
const SHELL_WORDS =
  "sudo|rm|dd|mkfs|chmod|chown|curl|wget|kill|mv|cp|ssh|scp|eval|exec|if|then|fi|for|do|done|while|case|esac";

const WORDS: { readonly [kind in TextKind]?: string } = {
  sql: SQL_WORDS,
  shell: SHELL_WORDS,
  code: CODE_WORDS,
};
const COMMENTS: { readonly [kind in TextKind]?: string } = {
  sql: "--.*",
  shell: "(?<=^|\\s)#.*",
  code: "//.*|(?<=^|\\s)#.*",
};
const patterns = new Map<TextKind, RegExp>();

/** A line in its parts: they are the whole line, in order. */
export function codePieces(line: string, kind: TextKind): readonly CodePiece[] {
  const pieces: CodePiece[] = [];
  let end = 0;
  for (const match of line.matchAll(patternOf(kind))) {
    if (match.index > end) pieces.push({ text: line.slice(end, match.index), of: "rest" });
    pieces.push({ text: match[0], of: kindOf(match.groups ?? {}) });
    end = match.index + match[0].length;
  }
  return end < line.length ? [...pieces, { text: line.slice(end), of: "rest" }] : pieces;
}

function kindOf(groups: { readonly [name: string]: string | undefined }): CodePiece["of"] {
  for (const of of ["comment", "text", "number", "word"] as const) if (groups[of] !== undefined) return of;
  return "rest";
}

function patternOf(kind: TextKind): RegExp {
  const known = patterns.get(kind);
  if (known !== undefined) return known;
  const parts = [
    `(?<comment>${COMMENTS[kind] ?? "(?!)"})`,
    `(?<text>"[^"]*"|'[^']*')`,
    String.raw`(?<number>\b\d+(?:\.\d+)?\b)`,
    String.raw`(?<word>\b(?:${WORDS[kind] ?? "(?!)"})\b)`,
  ];
  const made = new RegExp(parts.join("|"), kind === "sql" ? "gi" : "g");
  patterns.set(kind, made);
  return made;
}
