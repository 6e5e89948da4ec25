import type { Clock, Ledger } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { FileTarget } from "./file-target.ts";
import { HttpTarget } from "./http-target.ts";
import type { Format } from "./lines.ts";
import type { Target } from "./target.ts";

/** Where the journal is exported to, and in which form. */
export interface SiemSettings {
  /** Identifies the export in the ledger. A new name starts at the beginning of the journal. Default: `siem`. */
  readonly name?: string;
  /** `plain`: records as `/v1/audit` shows them. `ocsf`: events of the Open Cybersecurity Schema Framework. */
  readonly format?: Format;
  /** A file that grows. */
  readonly file?: string;
  /** Or an https address that takes batches of lines. */
  readonly url?: string;
  /** The `Authorization` header for the address. It is a secret. */
  readonly authorization?: string;
}

/** Options of {@link createSiem}. */
export interface SiemOptions extends SiemSettings {
  readonly ledger: Pick<Ledger, "items" | "journal" | "load" | "onChange" | "now">;
  readonly clock?: Clock;
}

const NAME = /^[a-z0-9-]{1,40}$/;
// Printable ASCII, so that it fits into a header.
const HEADER = /^[\x21-\x7e]+( [\x21-\x7e]+)*$/;

export function checkName(name: string): string {
  if (NAME.test(name)) return name;
  throw invalid("name", "The `name` of the export must have 1 to 40 lower-case letters, digits and dashes.");
}

export function checkFormat(format: string): Format {
  if (format === "plain" || format === "ocsf") return format;
  throw invalid("format", 'The `format` of the export must be "plain" or "ocsf".');
}

/** Exactly one of a file and an address. Throws `invalid-option`. */
export function targetOf({ file, url, authorization }: SiemSettings): Target {
  if ((file === undefined) === (url === undefined))
    throw invalid("file", "The export needs either `file` or `url`.");
  if (authorization !== undefined && (url === undefined || !HEADER.test(authorization)))
    throw invalid(
      "authorization",
      "The authorization of the export must be the value of a header, and needs `url`.",
    );
  if (url === undefined) return new FileTarget(file ?? "");
  return new HttpTarget(checkUrl(url), authorization);
}

// The journal goes over no connection that others can read. The address may be a secret, so it is not repeated.
function checkUrl(text: string): URL {
  const url = URL.parse(text);
  const isHere = url !== null && ["127.0.0.1", "[::1]", "localhost"].includes(url.hostname);
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isHere);
  if (url !== null && isSafe && url.username === "" && url.password === "") return url;
  throw invalid("url", "The address of the export must be an https URL without a user name.");
}

function invalid(field: string, message: string): CountersignError {
  return new CountersignError("invalid-option", message, { details: { field } });
}
