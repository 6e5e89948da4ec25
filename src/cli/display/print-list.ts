import type { JsonObject } from "../../protocol/index.ts";
import type { Invocation } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import type { Output } from "../output.ts";

/** Prints a list: with `--json` as one document, otherwise a line for each item, or `none`. */
export function printList<T>(
  { flags, output }: Pick<Invocation, "flags" | "output">,
  items: readonly T[],
  how: {
    readonly none: string;
    readonly toJson: (item: T) => JsonObject;
    readonly describe: (output: Output, item: T) => string;
  },
): number {
  if (flags.has("json")) output.json({ items: items.map(how.toJson) });
  else if (items.length === 0) output.line(how.none);
  else for (const item of items) output.line(how.describe(output, item));
  return EXIT.ok;
}
