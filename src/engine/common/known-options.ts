import { CountersignError } from "../../protocol/index.ts";

/** A misspelt option could leave a tool without a gate. */
export function refuseUnknown(what: string, options: object, known: ReadonlySet<string>): void {
  const unknown = Object.keys(options).find((key) => !known.has(key));
  if (unknown === undefined) return;
  throw new CountersignError(
    "invalid-option",
    `${what} has no option "${unknown}". Known: ${[...known].join(", ")}.`,
    {
      details: { option: unknown },
    },
  );
}
