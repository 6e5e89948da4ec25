import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../scripts/command.ts";
import { statusText } from "../../src/cli/display/card.ts";
import { STATUSES } from "../../src/http/schemas/confirmation.ts";

const PAGE = join(ROOT, "web/src/features/confirmation/status-words.ts");
const { statusWord } = (await import(PAGE)) as {
  readonly statusWord: (status: string) => { readonly word: string };
};
const output = { style: (_style: unknown, text: string) => text };

test.each(STATUSES)("the page and the command line say %s as the API does", (status) => {
  expect(statusWord(status).word.toLowerCase()).toBe(status);
  expect(statusText(output, status)).toBe(status);
});
