import { readFileSync } from "node:fs";
import { CountersignError } from "../../protocol/index.ts";
import { parseRetention, type RetentionSettings } from "../../retention/index.ts";

/** Reads a retention file. Throws `invalid-option` if it cannot be used. */
export function openRetentionFile(file: string): RetentionSettings {
  return parseRetention(file, textOf(file));
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CountersignError("invalid-option", `The retention file "${file}" cannot be read.`, {
      details: { field: "retention" },
      cause: error,
    });
  }
}
