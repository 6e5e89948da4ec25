import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test, vi } from "vitest";
import { useBrowser } from "../support/browser/browser.ts";
import { openInbox } from "../support/browser/inbox-page.ts";
import { startInboxServer } from "../support/browser/inbox-server.ts";
import { useResources } from "../support/resources.ts";

// Somebody who has never seen the page decides the demo's requests. They know what they want of each, and use only what is
// on the screen: roles and names. What happens then has to be what the card said.

const resources = useResources();
const newPage = useBrowser();

const WISHES = [
  "Reimburse 2500 EUR for the team offsite in Lisbon",
  "I want 5 days off",
  "E-mail Maria that the invoice is paid",
  "Raise the Team price to 59",
  "Book a venue for the offsite",
] as const;

/** Starts the demo's agent, with a folder of its own, and asks it for these things. */
async function startDemo() {
  const folder = await resources.folder();
  vi.stubEnv("FILES_FOLDER", folder);
  vi.stubEnv("GEMINI_API_KEY", "");
  vi.stubEnv("GOOGLE_API_KEY", "");
  const { rootAgent } = await import("../../examples/agents/office_assistant/agent.ts");
  const server = await startInboxServer(resources, { agent: rootAgent });
  for (const wish of WISHES) await server.runner.send(wish, { user: "ana" });
  // Where there is no such file, nothing was done.
  const written = (name: string): Promise<string> => readFile(join(folder, name), "utf8").catch(() => "");
  return { ...server, written };
}

/** What the open card says would happen, as a person reads it. */
function saidOn(page: Page): Promise<string> {
  return page.getByRole("article").innerText();
}

test("a stranger changes, fills in, sends, edits and answers, and each does what the card said", {
  timeout: 300_000,
}, async () => {
  const { url, written, runner } = await startDemo();
  const { page, button, sendNow } = await openInbox(resources, { newPage, url });
  const choose = async (question: string): Promise<void> => {
    await page.getByRole("link", { name: question }).first().click();
    await page.getByRole("heading", { level: 1, name: question }).waitFor();
  };
  const press = async (name: RegExp): Promise<void> => {
    await button(name).and(page.locator("[aria-disabled=false]")).click();
    await sendNow();
  };

  // 1. Pays less than was asked for.
  await choose("Reimburse 2,500 EUR for the team offsite in Lisbon?");
  await button("Change the arguments…").click();
  await page.getByLabel("amount").fill("2000");
  await expect.poll(() => saidOn(page)).toContain("with exactly the changed arguments");
  await press(/^Approve/);
  await expect.poll(() => written("payments.csv")).toBe(`2000,EUR,"the team offsite in Lisbon"\n`);

  // 2. Grants too many days first, is told so, and then grants fewer.
  await choose("Grant 5 days off? You may grant fewer.");
  await page.getByLabel("Days that you grant").fill("9");
  await page.getByText("at most 5").first().waitFor();
  await page.getByLabel("Days that you grant").fill("3");
  await page.getByLabel(/^A word to the employee/).fill("Enjoy it");
  await press(/^Approve/);
  await expect.poll(() => written("time-off.csv")).toBe(`5,3,"Enjoy it"\n`);

  // 3. Reads the e-mail and lets it go: to whom and with what it said on the screen.
  await choose("Send this e-mail to maria@example.com?");
  const letter = page.getByRole("group", { name: "E-mail" });
  const [, subject = "", body = ""] = /subject\s+(.+?)\n+([\s\S]+)/.exec(await letter.innerText()) ?? [];
  await press(/^Approve/);
  await expect.poll(() => written("outbox.txt")).toContain(`To: maria@example.com\nSubject: ${subject}\n`);
  const sent = (await written("outbox.txt")).replace(/\s+/g, " ");
  expect(sent).toContain(body.replace(/\s+/g, " ").trim());

  // 4. Reads the change of a file and lets it be made.
  await choose("Change prices.md?");
  const change = page.getByRole("group", { name: "What changes" });
  const lines = (await change.innerText()).replace(/\s+/g, " ");
  expect(lines).toContain("removed: - Team: 49 EUR a month");
  expect(lines).toContain("added: - Team: 59 EUR a month");
  await press(/^Approve/);
  await expect.poll(() => written("prices.md")).toContain("- Team: 59 EUR a month");
  expect(await written("prices.md")).not.toContain("49");

  // 5. Answers a question of the agent.
  await page.getByRole("link", { name: "Which venue do you prefer?" }).first().click();
  await page.getByRole("radio", { name: "City hotel" }).check();
  await page.getByRole("checkbox", { name: "Garden" }).check();
  await press(/^Send the answers/);
  await expect.poll(() => runner.pending()).toEqual([]);
  await page.getByRole("link", { name: "History" }).click();
  await page.getByRole("link", { name: "Which venue do you prefer?" }).first().click();
  await expect.poll(() => saidOn(page)).toMatch(/City hotel[\s\S]*Garden/);
});
