import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { ROOT } from "../../../scripts/command.ts";
import { isLong } from "../effort.ts";
import { axeFaults } from "./axe.ts";
import { forcedColourFaults } from "./forced-colours.ts";
import { layoutFaults } from "./layout.ts";

/** The widths at which every screen is looked at. */
export const SIZES = {
  phone: { width: 390, height: 844 },
  tablet: { width: 768, height: 1024 },
  laptop: { width: 1024, height: 768 },
  desktop: { width: 1440, height: 900 },
} as const;

type Size = keyof typeof SIZES;

/** Where pictures go, if any are taken. */
const PICTURES = process.env["PICTURES"];
export const isPictured: boolean = PICTURES !== undefined;

const ALL = Object.keys(SIZES) as readonly Size[];
/** `npm test` measures at the narrowest and the widest. */
const ENDS: readonly Size[] = ["phone", "desktop"];
/** How axe sees a page: light at the narrowest, dark at the widest, and there with forced colours. */
const VIEWS = ["light", "dark", "forced"] as const;
type View = (typeof VIEWS)[number];

export interface Looking {
  readonly state: string;
  /** All, unless told. */
  readonly sizes?: readonly Size[];
  /** Pictures that docs/images keeps, by `<state>-<size>-<scheme>`. */
  readonly kept?: Readonly<Record<string, string>>;
}

/**
 * Looks at a page as it is, at each width and in both colour schemes, and at the widest with forced colours: seen by axe, and measured. What lies where is the
 * same in both schemes, and what has which colour at all widths. `npm test` leaves out the widths between, and has each
 * page in one of the three views. PICTURES names a folder that gets a picture of each.
 */
export async function lookAt(page: Page, looking: Looking): Promise<readonly string[]> {
  const { state, kept = {} } = looking;
  const sizes = sizesFor(looking);
  const views = viewsOf(state);
  const faults: string[] = [];
  await page.mouse.move(0, 0);
  for (const size of sizes) {
    await page.setViewportSize(SIZES[size]);
    await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
    for (const colorScheme of ["light", "dark"] as const) {
      const name = `${state}-${size}-${colorScheme}`;
      const isSeen = schemeForAxe(size, sizes) === colorScheme && views.includes(colorScheme);
      if (colorScheme === "dark" && !isPictured && !isSeen) continue;
      await page.emulateMedia({ colorScheme });
      const found = [
        ...(colorScheme === "light" ? await layoutFaults(page, { touch: size === "phone" }) : []),
        ...(isSeen ? await axeFaults(page) : []),
      ];
      faults.push(...found.map((fault) => `${name}: ${fault}`));
      await keepPicture(page, name, kept[name]);
    }
    if (size === sizes.at(-1) && views.includes("forced"))
      faults.push(...(await lookInForcedColours(page, `${state}-${size}-forced`)));
  }
  return faults;
}

function sizesFor({ sizes = ALL }: Looking): readonly Size[] {
  const ends = sizes.filter((size) => ENDS.includes(size));
  return isLong || isPictured || ends.length === 0 ? sizes : ends;
}

/** In `npm test` the name of a state decides on its view, so that every run has the same. */
function viewsOf(state: string): readonly View[] {
  if (isLong || isPictured) return VIEWS;
  const sum = Buffer.from(state).reduce((total, letter) => total + letter, 0);
  return VIEWS.slice(sum % VIEWS.length).slice(0, 1);
}

/** As somebody sees it whose system replaces all colours by a few of theirs. */
async function lookInForcedColours(page: Page, name: string): Promise<readonly string[]> {
  await page.emulateMedia({ colorScheme: "light", forcedColors: "active" });
  const found = [...(await axeFaults(page)), ...(await forcedColourFaults(page))];
  await keepPicture(page, name, undefined);
  await page.emulateMedia({ forcedColors: "none" });
  return found.map((fault) => `${name}: ${fault}`);
}

/** In which scheme axe looks at this width, if at all: light at the narrowest, dark at the widest. */
function schemeForAxe(size: Size, sizes: readonly Size[]): View | undefined {
  if (size === sizes.at(-1)) return "dark";
  return size === sizes[0] ? "light" : undefined;
}

/** Where PICTURES is set, stores a picture of the page there and, if it has a name in docs/images, there too. */
export async function keepPicture(page: Page, name: string, kept: string | undefined): Promise<void> {
  if (PICTURES === undefined) return;
  await mkdir(PICTURES, { recursive: true });
  const png = await page.screenshot({ animations: "disabled", caret: "hide", scale: "css" });
  await writeFile(join(PICTURES, `${name}.png`), png);
  if (kept !== undefined) await writeFile(join(ROOT, "docs", "images", kept), png);
}
