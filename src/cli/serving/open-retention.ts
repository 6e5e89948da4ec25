import type { Engine } from "../../engine/index.ts";
import type { Logger } from "../../http/index.ts";
import { scheduleRetention } from "../../retention/index.ts";
import { openRetentionFile } from "../retention/open-file.ts";
import { localPrincipal } from "../wiring.ts";

/** Retention that a server runs on a schedule. */
export interface ServedRetention {
  /** Starts to look for what is due; returns what stops it. */
  start(engine: Engine, log: Logger): () => Promise<void>;
}

/** Reads the file. Throws `invalid-option` if it cannot be used. */
export function openRetention(file: string): ServedRetention {
  const settings = openRetentionFile(file);
  return {
    start: (engine, log) =>
      scheduleRetention(engine, {
        settings,
        decider: { by: localPrincipal(), via: "serve" },
        listener: {
          ran: ({ erased, held, ended }) => log.info({ file, erased, held, ended }, "retention ran"),
          failed: (err) => log.error({ err, file }, "retention failed; it is tried again"),
        },
      }),
  };
}
