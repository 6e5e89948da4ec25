import { CountersignError, isJsonArray, isJsonObject } from "../../protocol/index.ts";
import type { Approvers } from "../people/index.ts";

/** The options of a gated tool or function that say how people are asked. */
export interface AskingOptions {
  readonly approvers?: Approvers;
  readonly expiresInMs?: number;
  readonly amendable?: true | readonly string[];
  readonly secrets?: readonly string[];
  readonly onDenied?: "invoke";
}

/**
 * Refuses impossible options (`invalid-option`, with the option's name) when the tool is defined: a rule that allows
 * nobody, a deadline that is not a time, a pointer that hides nothing.
 */
export function checkAsking(what: string, options: AskingOptions): void {
  for (const [option, fits] of RULES) {
    const given: unknown = options[option];
    if (given === undefined || fits(given)) continue;
    throw new CountersignError(
      "invalid-option",
      `${what} has an invalid ${option}: ${told(given)}. Use ${RIGHT[option]}.`,
      { details: { option } },
    );
  }
}

// The deadline, counted from now, must still be a valid date.
const LONGEST_MS = 8_000_000_000_000_000;
const POINTER = /^(?:\/(?:[^~/]|~[01])*)+$/;
const APPROVER_FIELDS: ReadonlySet<string> = new Set(["roles", "users", "notRequester"]);

const RIGHT = {
  approvers:
    '"requester", or an object that names somebody: { roles: ["…"], users: ["…"], notRequester: true }',
  expiresInMs: "a whole number of milliseconds, 1 or more",
  amendable: "true, or a list of argument names",
  secrets: 'a list of JSON pointers, for example "/card/number" or "/rows/*/pin"',
  onDenied: '"invoke", or nothing',
} as const satisfies { readonly [option in keyof AskingOptions]: string };

const RULES: readonly (readonly [keyof AskingOptions, (given: unknown) => boolean])[] = [
  ["approvers", (given) => given === "requester" || admitsSomebody(given)],
  ["expiresInMs", (given) => Number.isInteger(given) && Number(given) > 0 && Number(given) <= LONGEST_MS],
  ["amendable", (given) => given === true || isTexts(given)],
  ["secrets", (given) => isTexts(given) && given.every((pointer) => POINTER.test(pointer))],
  ["onDenied", (given) => given === "invoke"],
];

function admitsSomebody(given: unknown): boolean {
  if (!isJsonObject(given)) return false;
  const { roles = [], users = [], notRequester = false } = given;
  return (
    Object.keys(given).every((field) => APPROVER_FIELDS.has(field)) &&
    isTexts(roles) &&
    isTexts(users) &&
    typeof notRequester === "boolean" &&
    (notRequester || roles.length + users.length > 0)
  );
}

function isTexts(given: unknown): given is readonly string[] {
  return isJsonArray(given) && given.every((item) => typeof item === "string" && item !== "");
}

function told(given: unknown): string {
  if (typeof given === "number") return String(given);
  try {
    return JSON.stringify(given) ?? typeof given;
  } catch {
    return `what it was given (${typeof given})`;
  }
}
