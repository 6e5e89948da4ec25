import { expect, test } from "vitest";
import { useBrowser } from "../support/browser/browser.ts";
import { type InboxPage, openInbox } from "../support/browser/inbox-page.ts";
import { type InboxServer, startInboxServer } from "../support/browser/inbox-server.ts";
import { SIZES } from "../support/browser/look.ts";
import { watchShifts } from "../support/browser/shifts.ts";
import { isLong } from "../support/effort.ts";
import { useResources } from "../support/resources.ts";

// A click must hit what the person saw when they began to press. So nothing changes its place by itself.

const resources = useResources();
const newPage = useBrowser();

const TAG = { name: "tag", args: { name: "blue" } };
const PAY = { name: "explode", args: { amount: 90, to: "Printer Ltd" } };

/** Something new waits, something was decided elsewhere, and one more outcome is not known. */
async function bringNews(server: InboxServer): Promise<void> {
  const [decided = ""] = await server.ask("eve", TAG);
  await server.ask("local", TAG);
  const [lost = ""] = await server.ask("eve", PAY);
  await server.runner.deny(decided, { by: { id: "boss" } });
  await (await server.runner.approve(lost, { by: { id: "boss" } })).finished;
}

/** How many wait and how many outcomes are unknown, as the head of the page has them. */
async function counts({ page }: InboxPage): Promise<readonly string[]> {
  const told = await page.locator(".tab-inbox, .tab-unknown").allInnerTexts();
  return told.map((text) => text.replace(/\D/g, "") || "0");
}

const PLACES = [
  { name: "a card and the list", path: "", until: "Conversation before this request" },
  { name: "the history", path: "#/history", until: "boss" },
  { name: "one's own requests", path: "#/mine", until: "Tag blue?" },
  { name: "unknown outcomes", path: "#/unknown", until: "Explode 90 to Printer Ltd?" },
  { name: "the numbers", path: "#/numbers", until: "Decisions by day" },
  { name: "grants", path: "#/grants", until: "No grants" },
  { name: "delegations", path: "#/delegations", until: "No delegations" },
  { name: "the chat", path: "#/chat", until: "Start a chat" },
  { name: "the login", path: "#/login", until: "To the inbox" },
] as const;

/** `npm test` has every page once, half of them on a phone; `npm run test:all` has each on both. */
function placesOn(size: "phone" | "desktop"): readonly (typeof PLACES)[number][] {
  return PLACES.filter((_, index) => isLong || index % 2 === (size === "phone" ? 0 : 1));
}

test.each(["phone", "desktop"] as const)(
  "on a %s, no page moves by itself while news arrive",
  async (size) => {
    const server = await startInboxServer(resources);
    await server.ask("ana", TAG);
    await bringNews(server);
    const inbox = await openInbox(resources, { newPage, url: server.url, viewport: SIZES[size] });
    const { page, rows } = inbox;
    await rows.first().waitFor();
    const moved: string[] = [];
    for (const { name, path, until } of placesOn(size)) {
      await page.goto(`${server.url}/${path}`);
      if (path === "" && size === "phone") await rows.first().click();
      await page.getByText(until).first().waitFor();
      const [waiting = 0, unknown = 0] = (await counts(inbox)).map(Number);
      const shifts = await watchShifts(page);
      await bringNews(server);
      await expect.poll(() => counts(inbox)).toEqual([String(waiting + 1), String(unknown + 1)]);
      moved.push(...(await shifts()).map((what) => `${name}: ${what}`));
    }
    expect(moved).toEqual([]);
  },
);

test("a card does not move while what surrounds it is loaded, or when somebody opens it", async () => {
  const server = await startInboxServer(resources);
  const [id = ""] = await server.ask("ana", TAG);
  const held = Promise.withResolvers<void>();
  const { page, open, card } = await openInbox(resources, {
    newPage,
    url: server.url,
    prepare: (loading) =>
      loading.route("**/context", async (route) => {
        await held.promise;
        await route.continue();
      }),
  });
  await open(id);
  await card.getByText("Loading the context").waitFor();
  const shifts = await watchShifts(page);
  held.resolve();
  await card.getByText("Seen by local").waitFor();
  expect(await shifts()).toEqual([]);
});

test("a message in the strip moves nothing", async () => {
  const server = await startInboxServer(resources);
  await server.ask("ana", TAG);
  const { page, rows, button } = await openInbox(resources, {
    newPage,
    url: server.url,
    prepare: (loading) =>
      loading.addInitScript(`Object.defineProperty(Notification, "permission", { get: () => "denied" })`),
  });
  await rows.first().waitFor();
  await button(/^Approve/)
    .and(page.locator("[aria-disabled=false]"))
    .waitFor();
  const shifts = await watchShifts(page);
  await button("Notify on the desktop").click();
  await page.locator(".strip").getByText("The browser does not allow").waitFor();
  expect(await shifts()).toEqual([]);
});
