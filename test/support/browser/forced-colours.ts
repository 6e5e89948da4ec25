import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";

const SOURCE = readFileSync(new URL("forced-colour-faults.mjs", import.meta.url), "utf8").replace(
  "export function",
  "function",
);

/** What cannot be seen on the page where colours are forced, a line each; empty when everything can. */
export async function forcedColourFaults(page: Page): Promise<readonly string[]> {
  // The focus shows to those who use keys.
  await page.keyboard.press("Shift");
  return page.evaluate(`(() => { ${SOURCE}; return forcedColourFaults(); })()`);
}
