import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { ROOT } from "../../../scripts/command.ts";
import { axeFaults } from "./axe.ts";
import { layoutFaults } from "./layout.ts";

/** The widths at which every screen is looked at. */
export const SIZES = {
  phone: { width: 390, height: 844 },
  tablet: { width: 768, height: 1024 },
  laptop: { width: 1024, height: 768 },
  desktop: { width: 1280, height: 860 },
  wide: { width: 1440, height: 900 },
} as const;

export interface Looking {
  readonly state: string;
  readonly sizes: readonly (keyof typeof SIZES)[];
  /** Pictures that docs/images keeps, by `<state>-<size>-<scheme>`. */
  readonly kept?: Readonly<Record<string, string>>;
}

/**
 * Looks at a page as it is, at each width and in both colour schemes: seen by axe, and measured. What lies where is the
 * same in both schemes, and what has which colour at all widths. PICTURES names a folder that gets a picture of each.
 */
export async function lookAt(page: Page, { state, sizes, kept = {} }: Looking): Promise<readonly string[]> {
  const faults: string[] = [];
  await page.mouse.move(0, 0);
  for (const size of sizes) {
    await page.setViewportSize(SIZES[size]);
    await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
    for (const colorScheme of ["light", "dark"] as const) {
      const name = `${state}-${size}-${colorScheme}`;
      await page.emulateMedia({ colorScheme });
      if ((size === "phone" || size === "tablet") === (colorScheme === "light")) {
        const found = [
          ...(await layoutFaults(page, { touch: size === "phone" })),
          ...(await axeFaults(page)),
        ];
        faults.push(...found.map((fault) => `${name}: ${fault}`));
      }
      await keepPicture(page, name, kept[name]);
    }
  }
  return faults;
}

/** Where PICTURES is set, stores a picture of the page there and, if it has a name in docs/images, there too. */
export async function keepPicture(page: Page, name: string, kept: string | undefined): Promise<void> {
  const folder = process.env["PICTURES"];
  if (folder === undefined) return;
  const png = await page.screenshot({ animations: "disabled", caret: "hide" });
  const files = [
    ...(kept === undefined ? [] : [join(ROOT, "docs", "images", kept)]),
    join(folder, `${name}.png`),
  ];
  for (const file of files) {
    await mkdir(join(file, ".."), { recursive: true });
    await writeFile(file, png);
  }
}
