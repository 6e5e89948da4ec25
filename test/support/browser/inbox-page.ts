import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import { expect } from "vitest";
import type { Resources } from "../resources.ts";
import type { useBrowser } from "./browser.ts";

/** The inbox in a profile of its own. Whatever goes wrong in the page fails the test at its end. */
export interface InboxPage {
  readonly page: Page;
  readonly rows: Locator;
  /** The opened confirmation. */
  readonly card: Locator;
  readonly button: (name: string | RegExp) => Locator;
  readonly open: (id: string) => Promise<void>;
  /** Scrolls the opened card to its end. */
  readonly toEnd: () => Promise<void>;
  /** Sends at once what is held; on a slow machine it may have gone by itself already. */
  readonly sendNow: () => Promise<void>;
}

export interface InboxPageOptions extends BrowserContextOptions {
  /** What a page may say in its console without failing the test. */
  readonly mayComplain?: RegExp;
  readonly path?: string;
  /** Before anything is loaded. */
  readonly prepare?: (page: Page) => Promise<unknown>;
}

export async function openInbox(
  resources: Resources,
  {
    newPage,
    url,
    ...options
  }: { readonly newPage: ReturnType<typeof useBrowser>; readonly url: string } & InboxPageOptions,
): Promise<InboxPage> {
  const { mayComplain, path = "", prepare, ...contextOptions } = options;
  const { page, errors, foreign } = await newPage({
    viewport: { width: 1280, height: 860 },
    ...contextOptions,
  });
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  resources.add(() => {
    expect({ errors, foreign }).toEqual({ errors: [], foreign: [] });
    expect(complaints.filter((text) => mayComplain?.test(text) !== true)).toEqual([]);
  });
  await prepare?.(page);
  await page.goto(`${url}/${path}`);
  return {
    page,
    rows: page.locator(".row-link"),
    card: page.locator("article.card"),
    button: (name) => page.getByRole("button", { name }),
    toEnd: async () => {
      await page.evaluate(
        `(() => { const card = document.querySelector(".card-scroll"); card.scrollTo(0, card.scrollHeight); })()`,
      );
    },
    sendNow: async () => {
      await page
        .getByRole("button", { name: "Send now" })
        .click({ timeout: 5_000 })
        .catch(() => undefined);
    },
    open: async (id) => {
      await page.goto(`${url}/#/confirmations/${id}`);
      await page.locator("article.card").waitFor();
    },
  };
}
