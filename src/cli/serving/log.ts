import { pino } from "pino";
import type { Logger } from "../../http/index.ts";

/**
 * Where the server's log goes: standard error, a JSON document a line. To a person at a terminal it only tells
 * what went wrong.
 */
export function createLog(): Logger {
  const level = process.stderr.isTTY ? "warn" : "info";
  return pino({ level, base: null }, pino.destination({ dest: 2, sync: true }));
}
