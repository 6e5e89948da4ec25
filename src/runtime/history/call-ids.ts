import type { JsonObject, StoredEvent } from "../../protocol/index.ts";
import { UsedIds } from "./used-ids.ts";

/** The calls that a session's events tell of. */
export interface CallIds {
  /** Ids of all calls and answers, so that no new call gets the id of an imported answer. */
  readonly used: Pick<UsedIds, "has">;
  /** Calls without an answer. */
  readonly open: ReadonlySet<string>;
  /** Calls that were refused, or answered with an error, by invocation. */
  readonly refused: ReadonlyMap<string, ReadonlySet<string>>;
}

/** The same while events are read. */
export class CallIdsInWork implements CallIds {
  readonly used: UsedIds = new UsedIds();
  readonly open: Set<string> = new Set();
  readonly refused: Map<string, Set<string>> = new Map();
  /** Answers that came before their calls. */
  #early: Set<string> | undefined;

  add({ content, imported, closings, invocationId }: StoredEvent): void {
    for (const { callId, confirmed } of closings ?? []) if (!confirmed) this.#refuse(invocationId, callId);
    for (const { functionCall, functionResponse } of content?.parts ?? []) {
      if (functionCall?.id !== undefined) this.#call(functionCall.id, imported === undefined);
      const { id, response } = functionResponse ?? {};
      if (id === undefined) continue;
      this.#answer(id, imported === undefined);
      if (isError(response)) this.#refuse(invocationId, id);
    }
  }

  #call(id: string, isOurs: boolean): void {
    this.used.add(id);
    if (isOurs && this.#early?.has(id) !== true) this.open.add(id);
  }

  #answer(id: string, isOurs: boolean): void {
    this.used.add(id);
    if (isOurs && !this.open.delete(id)) (this.#early ??= new Set()).add(id);
  }

  #refuse(invocation: string, id: string): void {
    const ids = this.refused.get(invocation);
    if (ids === undefined) this.refused.set(invocation, new Set([id]));
    else ids.add(id);
  }
}

function isError(response: JsonObject | undefined): boolean {
  return response !== undefined && "error" in response;
}
