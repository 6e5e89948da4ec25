/** A piece of a line. */
export type Inline =
  | { readonly of: "text" | "code" | "strong" | "emphasis"; readonly text: string }
  /** A link is not followed: where it leads is part of what a person judges. */
  | { readonly of: "link" | "image"; readonly text: string; readonly address: string };

/** A block of a text in Markdown. */
export type Block =
  | { readonly of: "heading"; readonly level: number; readonly line: readonly Inline[] }
  | { readonly of: "paragraph" | "quote"; readonly lines: readonly (readonly Inline[])[] }
  | { readonly of: "list"; readonly isOrdered: boolean; readonly items: readonly (readonly Inline[])[] }
  | { readonly of: "code"; readonly text: string }
  | { readonly of: "rule" };

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})[ \t]+(\S.*)$/;
const RULE = /^ {0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/;
const QUOTE = /^ {0,3}>\s?(.*)$/;
const ITEM = /^\s{0,8}(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;

/**
 * The blocks of a text in Markdown, for showing beside its source: headings, paragraphs, lists, quotes, code, rules.
 * What is anything else, HTML above all, stays the text that it is. Goes over the text once.
 */
export function markdownBlocks(text: string): readonly Block[] {
  const lines = text.split(/\r?\n/);
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; ) {
    const { block, next } = blockAt(lines, at);
    if (block !== undefined) blocks.push(block);
    at = next;
  }
  return blocks;
}

interface Found {
  readonly block?: Block;
  readonly next: number;
}

function blockAt(lines: readonly string[], at: number): Found {
  const line = lines[at] ?? "";
  if (line.trim() === "") return { next: at + 1 };
  const fence = FENCE.exec(line)?.[1];
  if (fence !== undefined) return codeAt(lines, at, fence);
  const [, hashes, title] = HEADING.exec(line) ?? [];
  if (hashes !== undefined && title !== undefined)
    return { block: { of: "heading", level: hashes.length, line: inlines(title) }, next: at + 1 };
  if (RULE.test(line)) return { block: { of: "rule" }, next: at + 1 };
  if (QUOTE.test(line)) {
    const next = runFrom(lines, at, (each) => QUOTE.test(each));
    const quoted = lines.slice(at, next).map((each) => inlines(QUOTE.exec(each)?.[1] ?? ""));
    return { block: { of: "quote", lines: quoted }, next };
  }
  if (ITEM.test(line)) return listAt(lines, at);
  const next = runFrom(lines, at, (each) => each.trim() !== "" && !beginsBlock(each));
  return { block: { of: "paragraph", lines: lines.slice(at, next).map(inlines) }, next };
}

function beginsBlock(line: string): boolean {
  return [FENCE, HEADING, RULE, QUOTE, ITEM].some((pattern) => pattern.test(line));
}

function codeAt(lines: readonly string[], at: number, fence: string): Found {
  const isEnd = (line: string): boolean => line.trim().startsWith(fence) && /^[`~]+$/.test(line.trim());
  const end = lines.findIndex((line, index) => index > at && isEnd(line));
  // Without an end, the rest is code.
  const last = end === -1 ? lines.length : end;
  return { block: { of: "code", text: lines.slice(at + 1, last).join("\n") }, next: last + 1 };
}

function listAt(lines: readonly string[], at: number): Found {
  const next = runFrom(lines, at, (line) => ITEM.test(line));
  const items = lines.slice(at, next).map((line) => inlines(ITEM.exec(line)?.[2] ?? ""));
  const isOrdered = ITEM.exec(lines[at] ?? "")?.[1] !== undefined;
  return { block: { of: "list", isOrdered, items }, next };
}

/** Where a run of like lines ends; one at least belongs to it. */
function runFrom(lines: readonly string[], at: number, belongs: (line: string) => boolean): number {
  let next = at + 1;
  while (next < lines.length && belongs(lines[next] ?? "")) next += 1;
  return next;
}

// Each alternative begins with a character of its own and forbids it inside, so that no text makes it look back far.
const INLINE =
  /`(?<code>[^`\n]+)`|\*\*(?<strong>[^*\n]+)\*\*|__(?<bold>[^_\n]+)__|\*(?<emphasis>[^*\s][^*\n]*)\*|(?<image>!?)\[(?<label>[^[\]\n]{0,500})\]\((?<address>[^()\s]{1,2000})\)/g;

/** The pieces of a line; together they are its whole text, without the marks. */
export function inlines(line: string): readonly Inline[] {
  const pieces: Inline[] = [];
  let end = 0;
  for (const match of line.matchAll(INLINE)) {
    if (match.index > end) pieces.push({ of: "text", text: line.slice(end, match.index) });
    pieces.push(pieceOf(match.groups ?? {}));
    end = match.index + match[0].length;
  }
  return end < line.length ? [...pieces, { of: "text", text: line.slice(end) }] : pieces;
}

function pieceOf(groups: { readonly [name: string]: string | undefined }): Inline {
  const { code, strong, bold, emphasis, image, label = "", address } = groups;
  if (address !== undefined) return { of: image === "!" ? "image" : "link", text: label, address };
  if (code !== undefined) return { of: "code", text: code };
  if (emphasis !== undefined) return { of: "emphasis", text: emphasis };
  return { of: "strong", text: strong ?? bold ?? "" };
}
