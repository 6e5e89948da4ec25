import { displayText } from "../../protocol/index.ts";
import { textWidth } from "../display/text-width.ts";
import type { Output } from "../output.ts";

/** Streams text of others, each line after a bar, so that it cannot pass for our own. */
export class QuoteWriter {
  readonly #output: Output;
  readonly #room: number;
  #column = 0;
  #word = "";
  #blanks = 0;
  #open = false;

  constructor(output: Output) {
    this.#output = output;
    this.#room = output.width - 2;
  }

  /** Adds text. The last word waits until it is complete. */
  add(text: string): void {
    for (const piece of displayText(text).split(/(\s)/)) {
      if (piece === "\n") {
        this.#flush();
        this.#newLine();
      } else if (piece === " " || piece === "\t") {
        this.#flush();
        this.#blanks += 1;
      } else {
        this.#word += piece;
      }
    }
  }

  /** Ends the text. */
  end(): void {
    this.#flush();
    if (this.#open) this.#newLine();
  }

  #flush(): void {
    const word = this.#word;
    this.#word = "";
    if (word === "") return;
    const blanks = " ".repeat(this.#blanks);
    this.#blanks = 0;
    if (this.#column > 0 && this.#column + blanks.length + textWidth(word) > this.#room) this.#newLine();
    else if (blanks !== "") this.#put(blanks);
    for (const character of word) {
      if (this.#column + textWidth(character) > this.#room) this.#newLine();
      this.#put(character);
    }
  }

  #put(text: string): void {
    if (!this.#open) this.#output.write(`${this.#output.style("dim", "│")} `);
    this.#open = true;
    this.#output.write(text);
    this.#column += textWidth(text);
  }

  #newLine(): void {
    if (!this.#open) this.#output.write(this.#output.style("dim", "│"));
    this.#output.line();
    this.#blanks = 0;
    this.#open = false;
    this.#column = 0;
  }
}
