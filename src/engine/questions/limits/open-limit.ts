import type { JsonObject } from "../../../protocol/index.ts";
import {
  type CallRecord,
  type ConfirmationFilter,
  type Ledger,
  pagesOf,
  type SessionRecord,
} from "../../ledger/index.ts";
import type { EngineParts, EngineSettings } from "../../parts.ts";

/** How many more questions the session may have open. */
export function openRoom({ maxOpen }: EngineSettings, { open }: Pick<SessionRecord, "open">): number {
  return Math.max(maxOpen - open, 0);
}

/** The answer to a call that would open one question too many. */
export function tooManyOpen({ maxOpen }: EngineSettings): JsonObject {
  const error = `too many open confirmations: at most ${maxOpen} may wait in one session`;
  return { error, code: "too-many-open" };
}

/** The answer to a running call that may not ask another question; undefined if it may. */
export function tooManyAsked(
  { settings }: Pick<EngineParts, "settings">,
  { call, session }: { readonly call: CallRecord; readonly session: SessionRecord },
): JsonObject | undefined {
  const { maxRounds } = settings;
  if (call.rounds >= maxRounds)
    return { error: `too many confirmations: a call may ask at most ${maxRounds}`, code: "too-many-open" };
  // The ledger's quota does not count here: the call has begun, and a refusal would end it for good.
  return openRoom(settings, session) > 0 ? undefined : tooManyOpen(settings);
}

/** How many questions of one server may be open: with more, people find nothing in their inbox. */
export const MAX_OPEN_PER_SERVER = 100;

/** How many open questions there are; no more than the limit are counted. A page of large ones is short, and not the last. */
export async function countOpen(
  ledger: Pick<Ledger, "confirmations">,
  filter: Omit<ConfirmationFilter, "state">,
): Promise<number> {
  let open = 0;
  const read: Parameters<typeof pagesOf>[0] = (page) =>
    ledger.confirmations({ ...filter, state: "open" }, { ...page, preview: true });
  for await (const { length } of pagesOf(read, MAX_OPEN_PER_SERVER)) {
    open += length;
    if (open >= MAX_OPEN_PER_SERVER) break;
  }
  return open;
}

/** Limits the open questions of an app whose calls have a session each, so that no session's limit holds them. */
export class AppOpenLimit {
  readonly #ledger: Pick<Ledger, "load" | "confirmations">;
  readonly #app: string;
  #last: Promise<unknown> = Promise.resolve();

  constructor(ledger: Pick<Ledger, "load" | "confirmations">, app: string) {
    this.#ledger = ledger;
    this.#app = app;
  }

  /**
   * Asks, one after the other, unless too many questions are open: then it returns false. A question that was asked
   * before may be asked again.
   */
  async asks(key: string, ask: () => Promise<unknown>): Promise<boolean> {
    const known = await this.#ledger.load({ session: { app: this.#app, user: "gate", id: key } });
    if (known !== undefined) return true;
    const asked = this.#last.then(async () => {
      if (await this.#isFull()) return false;
      await ask();
      return true;
    });
    this.#last = asked.catch(() => {});
    return asked;
  }

  async #isFull(): Promise<boolean> {
    return (await countOpen(this.#ledger, { app: this.#app })) >= MAX_OPEN_PER_SERVER;
  }
}
