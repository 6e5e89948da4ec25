import { styleText } from "node:util";
import { displayText } from "../protocol/index.ts";
import { wrapTo } from "./display/text-width.ts";

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

/** Output for a person or a program. Colour only on a terminal, and not if `NO_COLOR` is set. */
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

  /** The current size of the screen; a terminal may be resized. */
  get size(): { readonly columns: number; readonly rows: number } {
    return {
      columns: Math.max(MIN_WIDTH, this.#sink.columns || MAX_WIDTH),
      rows: this.#sink.rows || MIN_ROWS,
    };
  }

  /** Our own text, or text that went through {@link inert} before. */
  line(text = ""): void {
    this.#sink.write(`${text}\n`);
  }

  /** A piece of a line, as {@link Output.line}. */
  write(text: string): void {
    this.#sink.write(text);
  }

  /** Our own text, wrapped at the page width; `lead` is before the first line. */
  prose(text: string, lead = ""): void {
    const [first = "", ...rest] = wrapTo(text, this.width - lead.length);
    this.line(`${lead}${first}`);
    for (const line of rest) this.line(`${" ".repeat(lead.length)}${line}`);
  }

  /** One JSON document. Characters that a terminal might act on are escaped. */
  json(value: unknown): void {
    this.line(inertJson(value, 2));
  }

  /** One value per line. */
  jsonLine(value: unknown): void {
    this.line(inertJson(value, 0));
  }

  style(style: Style | readonly Style[], text: string): string {
    return this.#coloured ? styleText([style].flat(), text, { validateStream: false }) : text;
  }

  /** Text of others, each line after a bar, so that it cannot pass for our own. */
  quote(text: string, indent: string): void {
    const bar = this.style("dim", "│");
    const room = this.width - indent.length - 2;
    // The width of a tab depends on the terminal.
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

/** JSON for the same value, without characters that move, hide or reorder text. */
export function inertJson(value: unknown, indent: number): string {
  return JSON.stringify(value, null, indent).replaceAll(ACTIVE, (character) =>
    Array.from({ length: character.length }, (_, index) => escapeUnit(character.charCodeAt(index))).join(""),
  );
}

function escapeUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}
