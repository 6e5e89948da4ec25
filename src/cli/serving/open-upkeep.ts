import type { Engine } from "../../engine/index.ts";
import type { Logger } from "../../http/index.ts";
import { scheduleRetention } from "../../retention/index.ts";
import { openReceipts } from "../audit/open-receipts.ts";
import { openRetentionFile } from "../retention/open-file.ts";
import { localPrincipal } from "../wiring.ts";
import type { ServeOptions } from "./serve-options.ts";

/** What a server does on a schedule, beside its own work. */
export interface Upkeep {
  /** Resolves to what starts to look for what is due, and returns what stops that. Throws `invalid-option`. */
  prepare(engine: Engine): Promise<StartUpkeep>;
}

export type StartUpkeep = (log: Logger) => () => Promise<void>;

/** Reads the files. Throws `invalid-option` if one cannot be used. */
export function openUpkeep({ retention, receipts, webhookSecret }: ServeOptions): Upkeep {
  const all = [
    ...(retention === undefined ? [] : [openRetention(retention)]),
    ...(receipts === undefined ? [] : [openReceipts(receipts, webhookSecret)]),
  ];
  return {
    async prepare(engine) {
      const starts = await Promise.all(all.map((upkeep) => upkeep.prepare(engine)));
      return (log) => {
        const stops = starts.map((start) => start(log));
        return async () => {
          await Promise.all(stops.map((stop) => stop()));
        };
      };
    },
  };
}

function openRetention(file: string): Upkeep {
  const settings = openRetentionFile(file);
  return {
    prepare: async (engine) => (log) =>
      scheduleRetention(engine, {
        settings,
        decider: { by: localPrincipal(), via: "serve" },
        listener: {
          ran: (run) => log.info({ file, ...run }, "retention ran"),
          failed: (err) => log.error({ err, file }, "retention failed; it is tried again"),
        },
      }),
  };
}
