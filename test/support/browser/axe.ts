import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";

const SOURCE = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** What axe finds wrong on the page as it is, a line each; empty when nothing is. */
export async function axeFaults(page: Page): Promise<readonly string[]> {
  if ((await page.evaluate("typeof axe")) === "undefined") await page.evaluate(SOURCE);
  // It need not fetch the page's own stylesheets once more: no rule that is run reads them.
  return page.evaluate(`axe.run(document, { resultTypes: ["violations"], preload: false }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map((node) => id + ": " + node.target.join(" ") + " " + (node.any[0]?.message ?? ""))))`);
}
