import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterEach } from "vitest";
import { ensureChromium, ensureHeadlessShell } from "../../../scripts/test-tools.ts";

const FLAGS = [
  // As root, and in containers, Chromium has no sandbox of its own.
  "--no-sandbox",
  "--disable-dev-shm-usage",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  // Nothing but this machine is found. To ask us about each request would take a tenth of a page's time.
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
] as const;

/** Hosts that pages may talk to; everything else is cut off. */
const LOCAL: ReadonlySet<string> = new Set(["127.0.0.1", "localhost"]);

/** A page, and what went wrong in it. */
export interface WatchedPage {
  readonly page: Page;
  /** Errors that no code of the page caught. */
  readonly errors: readonly string[];
  /** Requests to other hosts, which were cut off. */
  readonly foreign: readonly string[];
}

/** How much of the system's Chromium: what draws pages, or all of it, with notifications and installed pages. */
type Extent = "pages" | "whole";

/** Chromium without a window. Whoever launches it closes it. */
export async function launchBrowser(extent: Extent = "pages"): Promise<Browser> {
  const executablePath = await (extent === "whole" ? ensureChromium() : ensureHeadlessShell());
  return chromium.launch({ executablePath, args: [...FLAGS], headless: true });
}

/** One of each for all files that a worker runs; it ends with the worker, which holds its pipe. */
const shared = new Map<Extent, Promise<Browser>>();

async function sharedBrowser(extent: Extent): Promise<Browser> {
  const running = shared.get(extent);
  if (running !== undefined && (await running).isConnected()) return running;
  const launched = launchBrowser(extent);
  shared.set(extent, launched);
  return launched;
}

/** Pages, each in a profile of its own that is gone after the test. */
export function useBrowser(
  extent: Extent = "pages",
): (options?: Parameters<Browser["newContext"]>[0]) => Promise<WatchedPage> {
  const contexts: BrowserContext[] = [];
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });
  return async (options = {}) => {
    const context = await (await sharedBrowser(extent)).newContext(options);
    contexts.push(context);
    return watchedPage(context);
  };
}

async function watchedPage(context: BrowserContext): Promise<WatchedPage> {
  const errors: string[] = [];
  const foreign: string[] = [];
  context.on("request", (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (protocol.startsWith("http") && !LOCAL.has(hostname)) foreign.push(request.url());
  });
  const page = await context.newPage();
  page.on("pageerror", (error) => errors.push(error.message));
  return { page, errors, foreign };
}
