import { readFileSync } from "node:fs";
import type { Logger } from "../../http/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import {
  openTargets,
  type PublishListener,
  parseReceipts,
  type ReceiptSettings,
  scheduleReceipts,
} from "../../receipts/index.ts";
import type { Upkeep } from "../serving/open-upkeep.ts";

/** Reads a receipts file. Throws `invalid-option` if it cannot be used. */
export function openReceiptsFile(file: string): ReceiptSettings {
  try {
    return parseReceipts(file, readFileSync(file, "utf8"));
  } catch (error) {
    if (CountersignError.isInstance(error)) throw error;
    throw new CountersignError("invalid-option", `The receipts file "${file}" cannot be read.`, {
      details: { field: "receipts" },
      cause: error,
    });
  }
}

/** Reads the file, for a server that publishes on a schedule. Throws `invalid-option` if it cannot be used. */
export function openReceipts(file: string, webhookSecret: string | undefined): Upkeep {
  const settings = openReceiptsFile(file);
  return {
    async prepare(engine) {
      const targets = await openTargets(engine, settings, webhookSecret);
      const { everyMs } = settings;
      return (log) => scheduleReceipts(engine, { targets, everyMs, listener: logTo(log, file) });
    },
  };
}

function logTo(log: Logger, file: string): PublishListener {
  return {
    published: ({ target, number, head, commits }) =>
      log.info({ target, number, head, commits }, "a receipt was published"),
    refused: (target, reason) =>
      log.error({ target, reason }, "a receipt could not be published; it is tried again"),
    warned: (target, warning) => log.warn({ target }, warning),
    failed: (err) => log.error({ err, file }, "publishing receipts failed; it is tried again"),
  };
}
