import { createHash } from "node:crypto";
import { displayText, type JsonObject } from "../../protocol/index.ts";

/** Slack's limits, in characters and blocks. */
export const LIMITS = {
  section: 3_000,
  header: 150,
  blocks: 50,
  value: 2_000,
  option: 75,
  options: 100,
} as const;
/** Slack names no limit for a whole message of blocks; what is longer was refused in practice. */
export const MOST_TEXT = 12_000;

const ID_LENGTH = 16;

/** A block of Slack's Block Kit. */
export type Block = JsonObject;

/**
 * A stranger's text as Slack shows it: exactly these characters, without markup, mentions, links or emoji codes. What
 * would hide or reorder text is written out.
 */
export function plain(text: string): JsonObject {
  return { type: "plain_text", text: text === "" ? " " : text, emoji: false };
}

/** The same, for one line. */
export function oneLine(text: string, maxLength?: number): string {
  return displayText(text, { newlines: "show", ...(maxLength === undefined ? {} : { maxLength }) });
}

/** Text that is never folded away behind "see more". */
export function section(text: string): Block {
  return { type: "section", text: plain(text), expand: true };
}

export function header(text: string): Block {
  return { type: "header", text: plain(text) };
}

export function context(lines: readonly string[]): Block {
  return { type: "context", elements: lines.map(plain) };
}

/** The blocks with ids that say their place and what is in them. */
export function withIds(kind: "card" | "note", blocks: readonly Block[]): readonly Block[] {
  return blocks.map((block, place) => {
    const digest = createHash("sha256").update(JSON.stringify(block)).digest("hex").slice(0, ID_LENGTH);
    return { ...block, block_id: `${kind}-${place}-${digest}` };
  });
}

/** Packs lines into as few texts as fit; undefined if a line alone does not. */
export function pack(lines: readonly string[]): readonly string[] | undefined {
  const texts: string[] = [];
  for (const line of lines) {
    if (line.length > LIMITS.section) return undefined;
    const last = texts.at(-1);
    const joined = last === undefined ? line : `${last}\n${line}`;
    if (last === undefined || joined.length > LIMITS.section) texts.push(line);
    else texts[texts.length - 1] = joined;
  }
  return texts;
}
