import { hostname } from "node:os";
import { Engine, type EngineOptions, type Ledger } from "./engine/index.ts";
import { createLedger } from "./stores/index.ts";

export {
  type Acting,
  type Approvers,
  type AskOptions,
  type CallContext,
  type CallRecord,
  type Clock,
  type ConfirmationFilter,
  type ConfirmationRecord,
  ConfirmationRejected,
  type DecisionInput,
  type DecisionReceipt,
  Engine,
  type EngineOptions,
  type Fault,
  type GateBody,
  type GatedFunction,
  type GateOptions,
  type GateOutcome,
  type GateUse,
  type Ledger,
  OutcomeUnknown,
  type Principal,
  type PrincipalInput,
  type Refusal,
  type Settlement,
  type ShownStatus,
  shownStatus,
  type Verification,
  type Worker,
  type WorkOptions,
} from "./engine/index.ts";
export {
  CountersignError,
  decodeAnswers,
  displayText,
  type ErrorCode,
  type Event,
  encodeEvent,
  type JsonObject,
  type JsonValue,
  originalCallFrom,
  REQUEST_CONFIRMATION_FUNCTION_CALL_NAME,
  REQUEST_CONFIRMATION_FUNCTION_NAME,
  type ToolConfirmation,
  type Wire,
} from "./protocol/index.ts";
export { createLedger, type LedgerOptions } from "./stores/index.ts";

/** An engine's options, with the ledger also as a URL. */
export interface CreateEngineOptions extends Omit<EngineOptions, "ledger"> {
  /** `memory:`, `sqlite:path`, or a ledger of your own; `sqlite:countersign.db` if nothing is said. */
  readonly ledger?: string | Ledger;
}

/**
 * Opens the ledger and makes an engine on it. The secret that signs decisions is `COUNTERSIGN_SECRET`,
 * unless one is given.
 */
export async function createEngine(options: CreateEngineOptions = {}): Promise<Engine> {
  const { ledger, secret = process.env["COUNTERSIGN_SECRET"], ...rest } = options;
  const isOpen = ledger !== undefined && typeof ledger !== "string";
  const opened = isOpen
    ? ledger
    : await createLedger(ledger, rest.clock === undefined ? {} : { clock: rest.clock });
  return new Engine({
    hostName: hostname(),
    ...rest,
    ledger: opened,
    ...(secret === undefined || secret === "" ? {} : { secret }),
  });
}
