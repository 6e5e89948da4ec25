import { isDeepStrictEqual } from "node:util";
import type { JsonObject, Model } from "../../../src/index.ts";
import { type ScriptedAnswer, scripted } from "../../../src/models/scripted/index.ts";
import type { Part } from "../../../src/protocol/index.ts";
import type { ModelRequest } from "../../../src/runtime.ts";

/**
 * A model that remembers nothing: what it answers follows from what it is shown, so it answers alike in
 * every process. Insists that every call is followed by its result, in the order of the calls.
 */
export function puppet(answer: (request: ModelRequest) => ScriptedAnswer | Promise<ScriptedAnswer>): Model {
  return scripted((request) => {
    insistOnCompleteTurns(request);
    return answer(request);
  });
}

/** Makes these calls, then says what came of each. */
export function clerk(...calls: readonly Part[]): Model {
  return puppet((request) => (isAnswering(request) ? outcomesIn(request) : calls));
}

/** Has it just been given results? */
export function isAnswering({ contents }: ModelRequest): boolean {
  return contents.at(-1)?.parts.some(({ functionResponse }) => functionResponse !== undefined) === true;
}

/** How often a tool has answered, as far as this model is shown. */
export function countOf({ contents }: ModelRequest, name: string): number {
  return contents.flatMap(({ parts }) => parts).filter((part) => part.functionResponse?.name === name).length;
}

/** One line for each result that it was given last. */
export function outcomesIn({ contents }: ModelRequest): string {
  return (contents.at(-1)?.parts ?? [])
    .flatMap(({ functionResponse }) =>
      functionResponse === undefined ? [] : [outcomeLine(functionResponse.name, functionResponse.response)],
    )
    .join("\n");
}

/** What a puppet says of a result. */
export function outcomeLine(tool: string, response: JsonObject): string {
  return `${tool} ${JSON.stringify(response)}`;
}

function insistOnCompleteTurns({ contents }: ModelRequest): void {
  let expected: readonly string[] = [];
  for (const { parts } of contents) {
    const answered = parts.flatMap(({ functionResponse }) => labelOf(functionResponse));
    if (!isDeepStrictEqual(answered, expected)) {
      throw new Error(`Expected the results of ${JSON.stringify(expected)}, got ${JSON.stringify(parts)}.`);
    }
    expected = parts.flatMap(({ functionCall }) => labelOf(functionCall));
  }
  if (expected.length > 0) throw new Error(`${JSON.stringify(expected)} has no result.`);
}

function labelOf(part: { readonly id?: string; readonly name: string } | undefined): readonly string[] {
  return part === undefined ? [] : [`${part.name} ${part.id}`];
}
