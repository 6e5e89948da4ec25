import { pino } from "pino";
import type { Logger } from "../../http/index.ts";

/** The server's log: standard error, one JSON document per line. In a terminal only warnings and errors. */
export function createLog(): Logger {
  const level = process.stderr.isTTY ? "warn" : "info";
  return pino({ level, base: null }, pino.destination({ dest: 2, sync: true }));
}
