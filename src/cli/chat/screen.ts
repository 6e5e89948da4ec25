import type { Event, JsonObject, Part } from "../../protocol/index.ts";
import { importedBy, isReservedName } from "../../protocol/index.ts";
import { printCard, printValue } from "../display/card.ts";
import type { FoundConfirmation } from "../find-confirmation.ts";
import { inert, type Output } from "../output.ts";
import { toJson } from "../report.ts";
import { QuoteWriter } from "./quote-writer.ts";

/** Where a conversation is shown. */
export interface Screen {
  /** Shows an event: text, a call, a result, an error. */
  event(event: Event): void;
  /** Shows a question, with everything a person must see before they answer. */
  card(found: FoundConfirmation): void;
  /** Shows our own text. */
  note(text: string): void;
  /** Shows a command line that continues from here. */
  command(line: string): void;
}

/** For programs: one JSON document per line, and no other text. */
export function jsonScreen(output: Output): Screen {
  return {
    event: (event) => output.jsonLine({ event }),
    card: (found) => output.jsonLine({ confirmation: toJson(found) }),
    note: () => {},
    command: () => {},
  };
}

/** For a person. */
export class TextScreen implements Screen {
  readonly #output: Output;
  /** Who is speaking in pieces now, and where that is written. */
  #speaking: { readonly author: string; readonly writer: QuoteWriter } | undefined;

  constructor(output: Output) {
    this.#output = output;
  }

  event(event: Event): void {
    const importer = importedBy(event);
    if (importer !== undefined) this.note(`Imported by ${inert(importer)}; not said here:`);
    const text = spokenText(event);
    if (event.partial === true) {
      if (text !== "") this.#writerFor(event.author).add(text);
      return;
    }
    const toldInPieces = this.#speaking?.author === event.author;
    if (text !== "" && !toldInPieces) this.#writerFor(event.author).add(text);
    this.#stopSpeaking();
    for (const part of event.content?.parts ?? []) this.#part(part);
    const { errorCode, errorMessage = "" } = event;
    if (errorCode !== undefined) {
      this.#output.prose(`${this.#output.style("red", inert(errorCode))}: ${inert(errorMessage)}`);
    }
  }

  card(found: FoundConfirmation): void {
    this.#stopSpeaking();
    this.#output.line();
    printCard(this.#output, found);
    this.#output.line();
  }

  note(text: string): void {
    this.#stopSpeaking();
    this.#output.prose(text);
  }

  command(line: string): void {
    this.#output.line(line);
  }

  #part({ functionCall, functionResponse }: Part): void {
    if (functionCall !== undefined) this.#call("→", functionCall.name, functionCall.args);
    if (functionResponse !== undefined) this.#call("←", functionResponse.name, functionResponse.response);
  }

  // Confirmation messages are shown as a card.
  #call(arrow: string, name: string, value: JsonObject): void {
    if (isReservedName(name)) return;
    printValue(this.#output, `${arrow} ${inert(name, 40)} `, value);
  }

  #writerFor(author: string): QuoteWriter {
    if (this.#speaking?.author !== author) {
      this.#stopSpeaking();
      this.#output.line(this.#output.style("bold", inert(author)));
      this.#speaking = { author, writer: new QuoteWriter(this.#output) };
    }
    return this.#speaking?.writer ?? new QuoteWriter(this.#output);
  }

  #stopSpeaking(): void {
    this.#speaking?.writer.end();
    this.#speaking = undefined;
  }
}

function spokenText({ content }: Event): string {
  return (content?.parts ?? []).map(({ text = "", thought }) => (thought === true ? "" : text)).join("");
}
