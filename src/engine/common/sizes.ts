import { CountersignError, type JsonObject } from "../../protocol/index.ts";
import type { Draft } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";

/** How many bytes of JSON a value has. */
export function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? "");
}

interface TooMuch {
  readonly ok: false;
  readonly code: "session-full" | "too-large";
  readonly message: string;
}

/** Why the session cannot hold what the draft adds; undefined if it can. */
export function sessionFull({ settings }: EngineParts, draft: Draft): TooMuch | undefined {
  if (draft.room >= 0) return undefined;
  const message = `The session would exceed ${settings.maxSessionBytes} bytes (\`maxSessionBytes\`). Start a new session, or send less.`;
  return { ok: false, code: "session-full", message };
}

/** Throws `session-full` if the session cannot hold what the draft adds. */
export function checkRoom(parts: EngineParts, draft: Draft): void {
  const full = sessionFull(parts, draft);
  if (full !== undefined) throw new CountersignError(full.code, full.message);
}

/** What the session stores of a call's result: all of it, or a short form if the session has no room. */
export function fittingResponse(
  { settings }: EngineParts,
  draft: Draft,
  { response, short }: { readonly response: JsonObject; readonly short: JsonObject },
): JsonObject {
  // Most sessions are far from full, and the size of a result takes time to find.
  if (draft.room > 2 * settings.maxResultBytes || draft.room > bytesOf(response)) return response;
  return short;
}

/** Why state cannot be changed like this: the state, or the change alone, would be too large. */
export async function tooMuchState(
  { ledger, settings }: EngineParts,
  session: string | undefined,
  delta: JsonObject | undefined,
): Promise<TooMuch | undefined> {
  if (delta === undefined || Object.keys(delta).length === 0) return undefined;
  const stored = session === undefined ? {} : await ledger.state(session);
  if (bytesOf({ ...stored, ...delta }) <= settings.maxStateBytes) return undefined;
  const message = `The state of the session, user and app together would exceed ${settings.maxStateBytes} bytes of JSON (\`maxStateBytes\`).`;
  return { ok: false, code: "too-large", message };
}
