import { CountersignError } from "../../protocol/index.ts";
import { EXIT } from "../exit-codes.ts";
import { type FoundConfirmation, shortId } from "../find-confirmation.ts";
import { inert } from "../output.ts";
import { SIGNAL_EXITS } from "../signals.ts";
import { askVerdict } from "./ask-verdict.ts";
import type { Conversation } from "./conversation.ts";
import type { Lines } from "./lines.ts";
import type { Screen } from "./screen.ts";

/** Everything a chat needs. */
export interface ChatParts {
  readonly conversation: Conversation;
  readonly lines: Lines;
  readonly screen: Screen;
  readonly exitNow: (code: number) => never;
  /** How this command, and others, are called from here. */
  readonly commandLine: (words: string) => string;
  /** The command that resumes this conversation; undefined if it is not stored. */
  readonly resumeWords: string | undefined;
}

const HELP = "Type a message. /pending shows open questions again; /quit or Ctrl-C quits.";

/**
 * Chats until the person leaves or the input ends. Open confirmations stay in the ledger. Ctrl-C during a run waits for
 * the run and then leaves; a second one ends the process at once.
 */
export class Chat {
  readonly #parts: ChatParts;
  readonly #aside = new Set<string>();
  readonly #toldUnknown = new Set<string>();
  #interrupted = false;

  constructor(parts: ChatParts) {
    this.#parts = parts;
    parts.lines.onInterrupt = () => this.#onInterrupt();
  }

  /** Resolves to the exit code. */
  async run(): Promise<number> {
    const { screen, lines } = this.#parts;
    if (lines.isTerminal) screen.note(HELP);
    for (;;) {
      await this.#tellUnknown();
      const question = await this.#nextQuestion();
      const left = question === undefined ? await this.#talk() : await this.#decide(question);
      if (this.#interrupted) return this.#leave("interrupted");
      if (left !== undefined) return this.#leave(left);
    }
  }

  /** Handles one message of the person; returns how they left, if they did. */
  async #talk(): Promise<"end" | "interrupted" | undefined> {
    const { conversation, lines } = this.#parts;
    const stop = conversation.whenNews((show) => lines.above(show));
    const line = await lines.next("> ").finally(stop);
    if (line.kind === "end" || line.kind === "interrupted") return line.kind;
    const text = line.kind === "line" ? line.text.trim() : "";
    if (text === "/quit" || text === "/exit") return "end";
    if (text === "/pending") this.#aside.clear();
    else if (text.startsWith("/")) this.#parts.screen.note(HELP);
    else if (text !== "") await this.#guarded(() => conversation.say(text));
    return undefined;
  }

  async #decide(found: FoundConfirmation): Promise<"end" | "interrupted" | undefined> {
    const { conversation, screen, lines } = this.#parts;
    screen.card(found);
    const { id } = found.confirmation;
    if (!conversation.mayDecide(found)) {
      screen.note("You may not decide this. It waits for an approver.");
      this.#aside.add(id);
      return undefined;
    }
    const closed = new AbortController();
    const stop = conversation.whenClosed(found, () => closed.abort());
    const verdict = await askVerdict(lines, found, { screen, signal: closed.signal }).finally(stop);
    switch (verdict.kind) {
      case "end":
      case "interrupted":
        return verdict.kind;
      case "withdrawn":
        await this.#followElsewhere(found);
        return undefined;
      case "later":
        this.#aside.add(id);
        screen.note(`It waits (id ${shortId(id)}). /pending asks again.`);
        return undefined;
      case "approve": {
        const { payload } = verdict;
        const answer = { confirmed: true, ...(payload === undefined ? {} : { payload }) };
        await this.#guarded(() => conversation.answer(found, answer));
        return undefined;
      }
      case "deny": {
        const { reason } = verdict;
        const answer = { confirmed: false, ...(reason === undefined ? {} : { reason }) };
        await this.#guarded(() => conversation.answer(found, answer));
        return undefined;
      }
    }
  }

  async #followElsewhere(found: FoundConfirmation): Promise<void> {
    const { conversation, screen } = this.#parts;
    screen.note("Decided elsewhere.");
    await this.#guarded(() => conversation.settled(found));
    await conversation.showNews();
  }

  /** Shows the refusal and continues: the ledger has not changed. */
  async #guarded(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!CountersignError.isInstance(error)) throw error;
      this.#parts.screen.note(`${inert(error.message)} [${error.code}]`);
    }
  }

  async #nextQuestion(): Promise<FoundConfirmation | undefined> {
    const open = await this.#parts.conversation.open();
    return open.find(({ confirmation }) => !this.#aside.has(confirmation.id));
  }

  async #tellUnknown(): Promise<void> {
    const { conversation, screen, commandLine } = this.#parts;
    for (const { id, tool } of await conversation.unknown()) {
      if (this.#toldUnknown.has(id)) continue;
      this.#toldUnknown.add(id);
      screen.note(`${inert(tool)} started, but its outcome is unknown. Find out what happened, then run`);
      screen.command(commandLine(`settle ${shortId(id)} …`));
    }
  }

  #onInterrupt(): void {
    const { screen, exitNow } = this.#parts;
    if (this.#interrupted) exitNow(SIGNAL_EXITS.SIGINT);
    this.#interrupted = true;
    screen.note("Waiting for running calls. Ctrl-C again stops at once; running calls then become unknown.");
  }

  async #leave(how: "end" | "interrupted"): Promise<number> {
    const { conversation, screen, commandLine, resumeWords } = this.#parts;
    const open = await conversation.open();
    if (open.length > 0) {
      screen.note(`${open.length === 1 ? "One question is" : `${open.length} questions are`} still open:`);
      for (const { confirmation, call } of open) {
        screen.note(`  ${shortId(confirmation.id)}  ${inert(call.tool)}`);
      }
    }
    if (open.length > 0 || how === "interrupted") {
      if (resumeWords === undefined) screen.note("The ledger was in memory and is lost now.");
      else {
        screen.note("Continue with");
        screen.command(commandLine(resumeWords));
      }
    }
    return how === "interrupted" ? SIGNAL_EXITS.SIGINT : EXIT.ok;
  }
}
