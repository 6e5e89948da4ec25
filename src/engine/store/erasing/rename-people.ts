import { isJsonArray, isJsonObject, type JsonValue } from "../../../protocol/index.ts";
import type { ConfirmationRecord } from "../../ledger/index.ts";
import type { Archive } from "../archive.ts";
import type { SessionDocument } from "../document.ts";

/** What each name is replaced by. */
export type Renaming = ReadonlyMap<string, string>;

/** Members, one inside the other; lists are passed through. */
type Place = readonly string[];

// Only these name people. An id, an app, a tool or a role may read the same as a name, and must stay.
const APPROVERS: readonly Place[] = [
  ["requesters"],
  ["requirements", "from", "users"],
  ["escalations", "to", "users"],
];
const IN_FRAME: readonly Place[] = [["requesters"], ["asker", "id"]];
const IN_CALL: readonly Place[] = [
  ["requesters"],
  ["asker", "id"],
  ["settled", "by", "id"],
  ...below("grant", APPROVERS),
];
const IN_CONFIRMATION: readonly Place[] = [
  ["user"],
  ...APPROVERS,
  ["votes", "by", "id"],
  ["votes", "by", "onBehalfOf"],
  ["votes", "person"],
  ["votes", "delegated", "from"],
];
const IN_ARCHIVE: readonly Place[] = [...below("calls", IN_CALL), ...below("confirmations", IN_CONFIRMATION)];
const IN_DOCUMENT: readonly Place[] = [["head", "user"], ...below("frames", IN_FRAME), ...IN_ARCHIVE];

/** A copy with people renamed; the same object if none of them is in it. */
export function renamedDocument(document: SessionDocument, renaming: Renaming): SessionDocument {
  return renamed(document, IN_DOCUMENT, renaming);
}

/** The same, of what is kept beside a row of the log. */
export function renamedArchive(archive: Archive, renaming: Renaming): Archive {
  return renamed(archive, IN_ARCHIVE, renaming);
}

/** The same, of one question. */
export function renamedConfirmation<T extends ConfirmationRecord>(confirmation: T, renaming: Renaming): T {
  return renamed(confirmation, IN_CONFIRMATION, renaming);
}

function below(member: string, places: readonly Place[]): readonly Place[] {
  return places.map((place) => [member, ...place]);
}

function renamed<T extends object>(row: T, places: readonly Place[], renaming: Renaming): T {
  const before = row as unknown as JsonValue;
  return places.reduce((value, place) => renamedAt(value, place, renaming), before) as unknown as T;
}

function renamedAt(value: JsonValue, place: Place, renaming: Renaming): JsonValue {
  if (isJsonArray(value)) {
    const all = value.map((one) => renamedAt(one, place, renaming));
    return all.some((one, at) => one !== value[at]) ? all : value;
  }
  const [member, ...rest] = place;
  if (member === undefined) return typeof value === "string" ? (renaming.get(value) ?? value) : value;
  const before = isJsonObject(value) ? value[member] : undefined;
  if (!isJsonObject(value) || before === undefined) return value;
  const after = renamedAt(before, rest, renaming);
  return after === before ? value : { ...value, [member]: after };
}
