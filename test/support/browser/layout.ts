import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";

const SOURCE = readFileSync(new URL("layout-faults.mjs", import.meta.url), "utf8").replace(
  "export function",
  "function",
);

/**
 * What is wrong with how a page lies there, a line each; empty when nothing is: wider than the window, controls out of
 * reach, text that is cut off or lies over other text, and, for `touch`, controls smaller than a finger.
 */
export async function layoutFaults(
  page: Page,
  { touch }: { readonly touch: boolean },
): Promise<readonly string[]> {
  return page.evaluate(`(() => { ${SOURCE}; return layoutFaults(${JSON.stringify({ touch })}); })()`);
}
