import { CountersignError, isJsonObject, toJsonValue } from "../../protocol/index.ts";
import type { AskOptions } from "../calls/index.ts";
import { flawOfName, isStandardSchema } from "../common/index.ts";

/** What a tool asks, if a ledger can store it; else throws `invalid-option` in the tool. */
export function checkedAsk(given: unknown): AskOptions {
  if (!isJsonObject(given)) throw unusable("The options of a question", "must be an object", "options");
  const { hint, payload, schema } = given as AskOptions;
  if (hint !== undefined && typeof hint !== "string") throw unusable("The hint", "must be text", "hint");
  if (isStandardSchema(schema)) {
    const fault =
      "must be JSON Schema, because any process must be able to show and check it; with zod, use z.toJSONSchema(schema)";
    throw unusable("The schema of a question", fault, "schema");
  }
  for (const [field, value] of Object.entries({ payload, schema })) {
    const read = value === undefined ? undefined : toJsonValue(value);
    if (read?.ok === false)
      throw unusable(`The ${field} of a question`, `is not JSON: ${read.message.replace(/\.$/, "")}`, field);
  }
  return {
    ...(hint === undefined ? {} : { hint: hint.toWellFormed() }),
    ...(payload === undefined ? {} : { payload }),
    ...(schema === undefined ? {} : { schema }),
  };
}

/** The name of a step or question, if a ledger can store it. */
export function checkedName(name: string): string {
  const flaw = typeof name === "string" && name !== "" ? flawOfName(name) : "must be text";
  if (flaw !== undefined) throw unusable("The name of a step or question", flaw, "name");
  return name;
}

function unusable(what: string, fault: string, field: string): CountersignError {
  return new CountersignError("invalid-option", `${what} ${fault}.`, { details: { field } });
}
