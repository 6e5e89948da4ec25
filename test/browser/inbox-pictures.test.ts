import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../scripts/command.ts";
import { ManualClock } from "../../src/engine/index.ts";
import { useBrowser } from "../support/browser.ts";
import { type InboxPage, openInbox } from "../support/inbox-page.ts";
import { type Office, openOffice } from "../support/office.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const newPage = useBrowser();

const NOW = Date.UTC(2026, 10, 16, 9, 30);
/** The two that README shows; the others are only looked at for being a picture at all. */
const KEPT: { readonly [name: string]: string } = {
  "card-desktop-light": "inbox.png",
  "card-phone-dark": "inbox-phone.png",
};

const SIZES = {
  desktop: { width: 1280, height: 860 },
  phone: { width: 390, height: 844 },
} as const;

/** An office at a time that stands still, with names instead of random ids, so that a picture is always the same. */
async function stillOffice(): Promise<Office & { readonly ids: readonly string[] }> {
  const clock = new ManualClock(NOW - 4 * 60_000);
  let count = 0;
  const office = await openOffice(resources, { clock, ids: () => String(++count).padStart(6, "0") });
  const earlier = await office.ask("ana", { name: "reimburse", args: { amount: 180, purpose: "taxi" } });
  await (await office.runner.approve(earlier[0] ?? "", { by: { id: "grace" } })).finished;
  const trip = {
    amount: 2500,
    currency: "EUR",
    purpose: "Team offsite in Lisbon",
    receipts: ["hotel.pdf", "flight.pdf"],
  };
  const mail = { to: "finance@corp.example", subject: "Offsite", body: "Please book it under travel." };
  const ids = [
    ...(await office.ask("ana", { name: "reimburse", args: trip }, { name: "send_email", args: mail })),
    ...(await office.ask("ben", {
      name: "edit_file",
      args: {
        path: "config/limits.yaml",
        old_text: "daily: 100\nweekly: 500",
        new_text: "daily: 1000\nweekly: 500",
      },
    })),
    ...(await office.ask("cleo", { name: "grant_leave", args: { employee: "cleo", days: 5 } })),
    ...(await office.ask("ben", { name: "order", args: { item: "Laptop stand", quantity: 40 } })),
    ...(await office.ask("dora", { name: "clerk", args: { request: "file it" } })),
  ];
  await clock.advance(4 * 60_000);
  return { ...office, ids };
}

async function openStill(
  office: Office,
  size: keyof typeof SIZES,
  colorScheme: "light" | "dark",
): Promise<InboxPage> {
  return openInbox(resources, {
    newPage,
    url: office.url,
    viewport: SIZES[size],
    colorScheme,
    reducedMotion: "reduce",
    timezoneId: "Europe/Lisbon",
    locale: "en-GB",
    deviceScaleFactor: 2,
    hasTouch: size === "phone",
    prepare: async (page) => {
      await page.clock.setFixedTime(NOW);
      // The page sets its clock by the server's answer, whose date is the machine's.
      await page.route("**/v1/me", async (route) => {
        const answer = await route.fetch();
        const headers = { ...answer.headers(), date: new Date(NOW).toUTCString() };
        await route.fulfill({ response: answer, headers });
      });
    },
  });
}

async function expectPicture({ page }: InboxPage, name: string): Promise<void> {
  const png = await page.screenshot({ animations: "disabled", caret: "hide" });
  expect(png.length).toBeGreaterThan(10_000);
  const kept = KEPT[name];
  if (kept === undefined) return;
  const folder = join(ROOT, "docs", "images");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, kept), png);
}

for (const size of ["desktop", "phone"] as const) {
  for (const colour of ["light", "dark"] as const) {
    test(`the main states can be seen, ${size}, ${colour}`, async () => {
      const office = await stillOffice();
      const inbox = await openStill(office, size, colour);
      const { page, rows, card, button, sendNow } = inbox;
      const name = (state: string): string => `${state}-${size}-${colour}`;
      await rows.first().waitFor();
      await page.getByText("Live").waitFor();
      await expectPicture(inbox, name("list"));
      await rows.first().click();
      await card.getByText("Earlier decisions on this tool and requester").waitFor();
      await button(/^Approve/)
        .and(page.locator("[aria-disabled=false]"))
        .waitFor();
      await page.mouse.move(0, 0);
      await expectPicture(inbox, name("card"));
      await button(/^Reject…/).click();
      await page.getByLabel(/^Reason/).fill("Needs two receipts.");
      await expectPicture(inbox, name("reject"));
      await button("Reject").and(page.locator("[aria-disabled=false]")).click();
      await sendNow();
      await card.getByText("Rejected by local").waitFor();
      await expectPicture(inbox, name("decided"));
      for (const view of ["history", "mine", "chat"]) {
        await page.goto(`${office.url}/#/${view}`);
        await page.locator("main h1, .chat .empty").first().waitFor();
        await expectPicture(inbox, name(view));
      }
    });
  }
}
