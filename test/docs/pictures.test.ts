import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../scripts/command.ts";

/** The pages of the inbox whose address is their name. */
const { PLAIN_PAGES } = (await import(join(ROOT, "web/src/router.ts"))) as {
  readonly PLAIN_PAGES: readonly string[];
};
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const stored = globSync("docs/images/*.png", { cwd: ROOT }).map((file) => basename(file));

test("every picture is made by a test, and shown in the documentation", () => {
  const tests = globSync("test/browser/*.test.ts", { cwd: ROOT }).map(read).join("\n");
  const docs = [...globSync("*.md", { cwd: ROOT }), ...globSync("docs/**/*.md", { cwd: ROOT })]
    .map(read)
    .join("\n");
  const made = [...tests.matchAll(/"([\w-]+)\.png"|picture: "([\w-]+)"/g)].map(
    ([, file, name]) => `${file ?? name}.png`,
  );
  expect(stored.toSorted()).toEqual([...new Set(made)].toSorted());
  expect(stored.filter((file) => !docs.includes(`images/${file}`))).toEqual([]);
});

test("the page of the design shows every page of the inbox", () => {
  const shown = read("docs/design.md");
  expect(["chat", ...PLAIN_PAGES].filter((page) => !shown.includes(`\`#/${page}\``))).toEqual([]);
});
