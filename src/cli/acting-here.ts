import { type Engine, loginModeOf, type Principal, type Tried } from "../engine/index.ts";
import { CountersignError } from "../protocol/index.ts";
import type { Flags, Invocation } from "./command.ts";
import type { FoundCall } from "./find-confirmation.ts";
import { localPrincipal, VIA } from "./wiring.ts";

/** For commands that decide. */
export const BREAK_GLASS_FLAG: Flags = {
  "break-glass": {
    type: "boolean",
    help: "act here although this ledger requires a login; this is recorded",
  },
};

/** The `via` of decisions made here on a ledger where people log in. */
export const VIA_BREAK_GLASS: string = `${VIA}:break-glass`;

/** Who decides here, and the `via` that is recorded. */
export interface ActingHere {
  readonly by: Principal;
  readonly via: string;
}

/**
 * The local user, if they may decide on this ledger at all. If the ledger has a login, the command line would bypass
 * it: it is refused and journalled, unless `--break-glass` is given; then the decision is recorded with that `via`. The
 * confirmation's own rule applies in both cases.
 */
export async function actingHere(
  engine: Engine,
  invocation: Invocation,
  { found, what }: { readonly found: FoundCall; readonly what: Tried["what"] },
): Promise<ActingHere> {
  const by = localPrincipal();
  const login = await loginOf(engine, invocation);
  if (login === undefined) return { by, via: VIA };
  if (invocation.flags.has("break-glass")) return { by, via: VIA_BREAK_GLASS };
  const { call, confirmation } = found;
  const target = confirmation === undefined ? { call: call.id } : { confirmation: confirmation.id };
  await engine.decisions.noteRefusal(target, { code: "forbidden", what }, { by, via: VIA });
  throw new CountersignError(
    "forbidden",
    `This ledger requires a login to decide (${login}). Use the inbox or a token. --break-glass decides here anyway, and is recorded.`,
  );
}

/**
 * A user who has the ledger's file is its operator. On a ledger with a login, this needs a flag and is recorded. `instead`
 * says what people do there.
 */
export async function operatorHere(
  engine: Engine,
  invocation: Invocation,
  instead: string,
): Promise<ActingHere> {
  const by = { ...localPrincipal(), scopes: ["decide", "admin"] };
  const login = await loginOf(engine, invocation);
  if (login === undefined) return { by, via: VIA };
  if (invocation.flags.has("break-glass")) return { by, via: VIA_BREAK_GLASS };
  throw new CountersignError(
    "forbidden",
    `People log in to this ledger (${login})${instead}. To do it here anyway, add --break-glass; this is recorded.`,
  );
}

/** How people log in to this ledger, according to its last server or the environment; undefined if they do not. */
export async function loginOf({ ledger }: Engine, { env }: Invocation): Promise<string | undefined> {
  const wanted = env["COUNTERSIGN_AUTH"] || "none";
  const mode = wanted === "none" ? await loginModeOf(ledger.items) : wanted;
  if (mode === "none") return undefined;
  return mode === "host" ? "the login of the application that serves it" : `--auth ${mode}`;
}
