import { hostname } from "node:os";
import { Engine, type EngineOptions, type Ledger } from "./engine/index.ts";
import { createLedger } from "./stores/index.ts";

/** An engine's options, with the ledger also as a URL. */
export interface CreateEngineOptions extends Omit<EngineOptions, "ledger"> {
  /** `memory:`, `sqlite:path`, `postgres://…`, or your own ledger. Default: `sqlite:countersign.db`. */
  readonly ledger?: string | Ledger;
}

/**
 * Opens the ledger and makes an engine on it. The secret that signs decisions is `COUNTERSIGN_SECRET`,
 * unless one is given.
 */
export async function createEngine(options: CreateEngineOptions = {}): Promise<Engine> {
  const { ledger, ...rest } = withSurroundings(options);
  return new Engine({ ...rest, ledger: await openLedger(ledger, rest.clock) });
}

/** The options with this host's name, and the secret of the environment unless one is given. */
export function withSurroundings<Options extends { readonly secret?: string; readonly hostName?: string }>(
  options: Options,
): Options {
  const secret = options.secret ?? process.env["COUNTERSIGN_SECRET"];
  return { hostName: hostname(), ...options, ...(secret === undefined || secret === "" ? {} : { secret }) };
}

/** Opens the ledger that a URL names, or takes the one that is given. */
export async function openLedger(
  ledger: string | Ledger | undefined,
  clock: EngineOptions["clock"],
): Promise<Ledger> {
  if (ledger !== undefined && typeof ledger !== "string") return ledger;
  return createLedger(ledger, clock === undefined ? {} : { clock });
}
