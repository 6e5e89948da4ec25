// How smoothly the inbox scrolls, beside a bare element of the same height in the same window, in turn.
import type { CDPSession, Page } from "playwright-core";
import { median } from "./statistics.ts";

const FRAMES = 240;
const ROUNDS = 3;
/** A frame is late if the one before was shown for longer than this: it missed the next of 60 a second. */
const LATE_MS = 25;
const FRAME_MS = 1000 / 60;

/** How far each frame goes, in pixels: a finger that reads along, and one that flings through all rows. */
const SPEEDS = { read: 90, fling: 2_800 } as const;
/** A phone of the middle class is about four times slower than a desktop. */
const SLOWDOWNS = [1, 4] as const;

/** What one way to scroll took. */
export interface Scrolled {
  readonly what: string;
  /** CPU time of the page's main thread for a frame, and of the bare element's. */
  readonly cpuMs: number;
  readonly floorMs: number;
  /** Of a hundred frames. */
  readonly late: number;
  readonly floorLate: number;
}

interface Pass {
  readonly cpuMs: number;
  readonly late: number;
}

const SCROLL = (selector: string, step: number): string => `(async () => {
  const list = document.querySelector(${JSON.stringify(selector)});
  list.scrollTop = 0;
  const drawn = () => new Promise((done) => requestAnimationFrame(done));
  let late = 0;
  let last = await drawn();
  for (let frame = 0; frame < ${FRAMES}; frame += 1) {
    list.scrollTop += ${step};
    const now = await drawn();
    if (now - last > ${LATE_MS}) late += 1;
    last = now;
  }
  return late;
})()`;

const BARE = `(() => {
  const height = document.querySelector(".list-scroll").scrollHeight;
  const bare = document.createElement("div");
  bare.id = "bare";
  bare.style.cssText = "position: fixed; inset: 0 auto 0 0; inline-size: 400px; overflow: auto; background: white; contain: strict; display: none";
  const inside = document.createElement("div");
  inside.style.blockSize = height + "px";
  bare.append(inside);
  document.body.append(bare);
})()`;

/** Scrolls the list of an open inbox and the bare element in turn. */
export async function scrolling(page: Page, client: CDPSession): Promise<readonly Scrolled[]> {
  await client.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.evaluate(BARE);
  const found: Scrolled[] = [];
  for (const rate of SLOWDOWNS) {
    await client.send("Emulation.setCPUThrottlingRate", { rate });
    for (const [speed, step] of Object.entries(SPEEDS)) {
      const [list, bare]: readonly [Pass[], Pass[]] = [[], []];
      for (let round = 0; round < ROUNDS; round += 1) {
        list.push(await pass(page, client, { selector: ".list-scroll", step }));
        await page.evaluate(`document.querySelector("#bare").style.display = "block"`);
        bare.push(await pass(page, client, { selector: "#bare", step }));
        await page.evaluate(`document.querySelector("#bare").style.display = "none"`);
      }
      found.push({
        what: `${speed}, ${step} px a frame${rate === 1 ? "" : `, CPU ${rate} times slower`}`,
        cpuMs: median(list.map(({ cpuMs }) => cpuMs)),
        floorMs: median(bare.map(({ cpuMs }) => cpuMs)),
        late: median(list.map(({ late }) => late)),
        floorLate: median(bare.map(({ late }) => late)),
      });
    }
  }
  await client.send("Emulation.setCPUThrottlingRate", { rate: 1 });
  await client.send("Performance.disable");
  return found;
}

async function pass(
  page: Page,
  client: CDPSession,
  { selector, step }: { readonly selector: string; readonly step: number },
): Promise<Pass> {
  const before = await cpuUsed(client);
  const late = await page.evaluate<number>(SCROLL(selector, step));
  return { cpuMs: ((await cpuUsed(client)) - before) / FRAMES, late: (late / FRAMES) * 100 };
}

async function cpuUsed(client: CDPSession): Promise<number> {
  const { metrics } = await client.send("Performance.getMetrics");
  return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0) * 1000;
}

export function scrollingTable(lines: readonly Scrolled[]): string {
  const rows = lines.map(
    ({ what, cpuMs: used, floorMs, late, floorLate }) =>
      `| ${what} | ${used.toFixed(2)} | ${floorMs.toFixed(2)} | ${(used / floorMs).toFixed(1)} | ${late.toFixed(0)} | ${floorLate.toFixed(0)} | ${used <= FRAME_MS ? "met" : "missed"} |\n`,
  );
  return `\nScrolling, ${FRAMES} frames, medians of ${ROUNDS} rounds in turn with a bare element of the same height. Goal: the main thread's CPU time fits a frame (${FRAME_MS.toFixed(1)} ms).\n\n| how | CPU ms a frame | bare | times | late of 100 | bare late | |\n|---|--:|--:|--:|--:|--:|---|\n${rows.join("")}`;
}
