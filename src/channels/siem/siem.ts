import { systemClock } from "../../engine/index.ts";
import type { Channel, Told } from "../channel.ts";
import { JournalExport } from "./journal-export.ts";
import { checkFormat, checkName, type SiemOptions, targetOf } from "./siem-options.ts";

/** What a running export reports. */
export interface SiemHooks {
  /** A batch was written, or was not; one that was not is tried again. `set-aside`: a single record is left out. */
  readonly onAttempt?: (outcome: "delivered" | "failed" | "set-aside") => void;
  /** What the operator must know: why it does not go on, or that the file was cut. */
  readonly onProblem?: (reason: string) => void;
  readonly onError?: (error: unknown) => void;
}

/** A running export; stop it before you close the ledger. */
export interface RunningSiem {
  stop(): Promise<void>;
}

/** An export of the journal. */
export interface Siem extends Pick<Channel, "name" | "check" | "sendTest"> {
  start(hooks?: SiemHooks): RunningSiem;
}

/**
 * Writes the whole journal as JSON lines to a file or an address: in order, without gaps, at least once. A record that
 * the address always refuses, while it accepts others, is set aside: that is noted in the ledger and reported. How far it is,
 * is stored in the ledger, so it continues there after a restart. Processes on one ledger take turns. A line that comes
 * twice has the same id. Throws `invalid-option`.
 */
export function createSiem(options: SiemOptions): Siem {
  const name = checkName(options.name ?? "siem");
  const format = checkFormat(options.format ?? "plain");
  const target = targetOf(options);
  const { ledger, clock = systemClock } = options;
  return {
    name,
    check: () => target.check(),
    sendTest: async (signal): Promise<Told> => {
      const at = new Date(clock.now()).toISOString();
      const line = JSON.stringify({ id: `test_${clock.now()}`, kind: "channel-test", at });
      const { ok, ...failure } = await target.write({ lines: [line] }, signal);
      return ok ? { ok } : { ok, reason: "reason" in failure ? failure.reason : "" };
    },
    start: (hooks = {}) => new JournalExport({ name, format, target, ledger, clock, hooks }),
  };
}
