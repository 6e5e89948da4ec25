import { type DecodedAnswers, decodeAnswers } from "../../protocol/index.ts";

/**
 * A user's message, parsed once. A class, so that no JSON can pass for one: its text has been checked to contain no
 * results.
 */
export class ReadMessage implements DecodedAnswers {
  readonly decisions: DecodedAnswers["decisions"];
  readonly refused: DecodedAnswers["refused"];
  readonly warnings: DecodedAnswers["warnings"];
  readonly rest: DecodedAnswers["rest"];

  constructor(message: unknown) {
    const { decisions, refused, warnings, rest } = decodeAnswers(message);
    this.decisions = decisions;
    this.refused = refused;
    this.warnings = warnings;
    this.rest = rest;
  }

  /** Does it answer something, or try to? */
  get answers(): boolean {
    return this.decisions.length + this.refused.length + this.warnings.length > 0;
  }
}
