import { styleText } from "node:util";
import { displayText } from "../protocol/index.ts";
import { wrapTo } from "./text-width.ts";

/** Where a command writes: the part of a stream that is used. */
export interface Sink {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

const MAX_WIDTH = 80;
const MIN_WIDTH = 40;
const MIN_ROWS = 24;

/** What a person, or a program, gets to read. Colour only on a terminal, and not where `NO_COLOR` is set. */
export class Output {
  readonly width: number;
  readonly isTerminal: boolean;
  readonly #sink: Sink;
  readonly #coloured: boolean;

  constructor(sink: Sink, env: NodeJS.ProcessEnv) {
    this.#sink = sink;
    this.width = Math.max(MIN_WIDTH, Math.min(MAX_WIDTH, sink.columns || MAX_WIDTH));
    this.isTerminal = sink.isTTY === true;
    this.#coloured = this.isTerminal && !env["NO_COLOR"] && env["TERM"] !== "dumb";
  }

  /** What a full screen has now; a terminal may be resized. */
  get size(): { readonly columns: number; readonly rows: number } {
    return {
      columns: Math.max(MIN_WIDTH, this.#sink.columns || MAX_WIDTH),
      rows: this.#sink.rows || MIN_ROWS,
    };
  }

  /** Our own words, or text that went through {@link inert} before. */
  line(text = ""): void {
    this.#sink.write(`${text}\n`);
  }

  /** A piece of a line, as {@link Output.line}. */
  write(text: string): void {
    this.#sink.write(text);
  }

  /** Our own words, broken at the width of the page; `lead` stands before the first line. */
  prose(text: string, lead = ""): void {
    const [first = "", ...rest] = wrapTo(text, this.width - lead.length);
    this.line(`${lead}${first}`);
    for (const line of rest) this.line(`${" ".repeat(lead.length)}${line}`);
  }

  /** One document. Characters that a terminal might act on are escaped, so nothing of the value is lost. */
  json(value: unknown): void {
    this.line(inertJson(value, 2));
  }

  /** One value a line. */
  jsonLine(value: unknown): void {
    this.line(inertJson(value, 0));
  }

  style(style: Style | readonly Style[], text: string): string {
    return this.#coloured ? styleText([style].flat(), text, { validateStream: false }) : text;
  }

  /** Others' words, every line behind a bar, so that none can pass for one of ours. */
  quote(text: string, indent: string): void {
    const bar = this.style("dim", "│");
    const room = this.width - indent.length - 2;
    // A tab is as wide as the terminal likes.
    const shown = displayText(text).replaceAll("\t", " ");
    for (const line of wrapTo(shown, room)) this.line(`${indent}${bar} ${line}`.trimEnd());
  }
}

/** Text of others in a one-line place. */
export function inert(text: string, maxLength?: number): string {
  return displayText(text, { newlines: "show", ...(maxLength === undefined ? {} : { maxLength }) });
}

// JSON escapes the first 32 control characters by itself; terminals act on others too.
const ACTIVE = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Default_Ignorable_Code_Point}]--[\n]]/gv;

/** JSON that reads back as the same value and holds no character that moves, hides or reorders text. */
export function inertJson(value: unknown, indent: number): string {
  return JSON.stringify(value, null, indent).replaceAll(ACTIVE, (character) =>
    Array.from({ length: character.length }, (_, index) => escapeUnit(character.charCodeAt(index))).join(""),
  );
}

function escapeUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}
