import { expect, test } from "vitest";
import { createEmailChannel } from "../../src/channels/email/index.ts";
import type { Channel, Notice } from "../../src/channels/index.ts";
import { useBrowser } from "../support/browser/browser.ts";
import { keepPicture } from "../support/browser/look.ts";
import { type HeldQuestions, holdQuestions } from "../support/channels/held-questions.ts";
import { MailServer } from "../support/mail/mail-server.ts";
import { useResources } from "../support/resources.ts";

const newPage = useBrowser();
const resources = useResources();
const signal = new AbortController().signal;
const ASKED = {
  tool: "reimburse",
  hint: "Pay out $2,500 to rita?",
  args: { amount: 2_500, purpose: "conference ticket", to: "rita@example.com" },
};

/** The HTML of the last mail, as the server got it. */
async function mailOf(held: HeldQuestions, notices: readonly Notice[]): Promise<string> {
  const server = await new MailServer().listen();
  resources.add(() => server.close());
  const people = [{ id: "ana", email: "ana@example.com" }];
  const { ledger } = held;
  const channel: Channel = createEmailChannel({
    ledger,
    smtp: server.url,
    from: "approvals@example.com",
    people,
  });
  for (const notice of notices) expect(await channel.tell(notice, signal)).toEqual({ ok: true });
  return server.received.at(-1)?.parts[1] ?? "";
}

test.each([
  { what: "a question", tools: ["reimburse"], words: "Tool", picture: "mail" },
  {
    what: "what was held back",
    tools: ["reimburse", "delete_files", "book_travel"],
    words: "3 calls wait for your decision.",
    picture: "mail-digest",
  },
])("the mail about $what is readable, loads nothing and runs nothing", async ({ tools, words, picture }) => {
  const held = await holdQuestions(resources, tools);
  const shown = tools.length === 1 ? ASKED : {};
  const notices = held.notices.map((notice) => ({ ...notice, about: { ...notice.about, ...shown } }));
  const html = await mailOf(held, notices);
  const { page, errors, foreign } = await newPage({ viewport: { width: 640, height: 480 } });
  await page.setContent(html);
  await page.getByText(words).first().waitFor();
  const links = await page.getByRole("link").all();
  expect(links).toHaveLength(tools.length);
  for (const link of links)
    expect(await link.getAttribute("href")).toMatch(/^https:\/\/approvals\.example\/#\/confirmations\//);
  expect(await page.locator("script, img, iframe, link").count()).toBe(0);
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  expect([errors, foreign]).toEqual([[], []]);
  await keepPicture(page, picture, `${picture}.png`);
});
