import { CountersignError } from "../../protocol/index.ts";
import type { Snapshot } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import type { StoredCallerCall } from "./caller-outcome.ts";
import { callerSession, readCallKey } from "./key.ts";

/** A caller's own call: nobody else's key names it. */
export interface CallerRef {
  readonly by: string;
  readonly key: string;
  /** Where the call is, if the caller knows that: then the key need not be looked up. */
  readonly in?: { readonly app: string; readonly thread: string };
}

/** What was read of a caller's call. */
export type CallerSnapshot = Snapshot & StoredCallerCall;

/** The call that a key names, if there is one. */
export async function findCallerCall(
  { ledger }: Pick<EngineParts, "ledger">,
  { by, key, in: place }: CallerRef,
): Promise<CallerSnapshot | undefined> {
  const session =
    place === undefined
      ? (await readCallKey(ledger.items, { by, key }))?.session
      : callerSession({ by, ...place });
  const snapshot = session && (await ledger.load({ session, key }));
  return isCallers(snapshot) ? snapshot : undefined;
}

/** The call that a key names. Throws `unknown-call`. */
export async function getCallerCall(
  parts: Pick<EngineParts, "ledger">,
  ref: CallerRef,
): Promise<CallerSnapshot> {
  const found = await findCallerCall(parts, ref);
  if (found !== undefined) return found;
  throw new CountersignError("unknown-call", `You have no call with the key "${ref.key}".`);
}

/** A caller's call by its id, as it is now. */
export async function readCallerCall(
  { ledger }: Pick<EngineParts, "ledger">,
  id: string,
): Promise<CallerSnapshot> {
  const snapshot = await ledger.load({ call: id });
  if (isCallers(snapshot)) return snapshot;
  throw new CountersignError("unknown-call", `There is no call ${id}.`);
}

function isCallers(snapshot: Snapshot | undefined): snapshot is CallerSnapshot {
  return snapshot?.call?.runs === "caller";
}
