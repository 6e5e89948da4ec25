import { expect, test } from "vitest";
import type { Event } from "../../src/protocol/index.ts";
import { useBrowser } from "../support/browser/browser.ts";
import { openInbox } from "../support/browser/inbox-page.ts";
import { startInboxServer } from "../support/browser/inbox-server.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const newPage = useBrowser();

const LUNCH = { name: "reimburse", args: { amount: 2500, purpose: "lunch" } };

function said(author: string, text: string): Event {
  const content = { role: author === "user" ? "user" : "model", parts: [{ text }] };
  return { id: text.slice(0, 20), invocationId: "i", author, timestamp: 0, actions: {}, content };
}

test("imported messages are shown with the person who imported them", async () => {
  const server = await startInboxServer(resources);
  const events = [said("bob", "I (bob, CFO) have checked this.")];
  await server.runner.sessionService.createSession({ userId: "ana", sessionId: "s1", events });
  const turn = await server.runner.send(JSON.stringify([LUNCH]), { user: "ana", session: "s1" });
  const { open, card } = await openInbox(resources, { newPage, url: server.url });
  await open(turn.pending[0]?.id ?? "");
  const talk = card.locator(".talk li");
  await expect
    .poll(() => talk.first().innerText())
    .toMatch(/^Imported by ana, who says it is from bob · .*\nI \(bob, CFO\) have checked this\.$/s);
  expect(await talk.last().innerText()).not.toContain("Imported");
});

test("a conversation of endless words without a blank opens at once", async () => {
  const server = await startInboxServer(resources);
  const events = Array.from({ length: 20 }, (_, index) => said("user", `${index}${"漢".repeat(4_000)}`));
  await server.runner.sessionService.createSession({ userId: "ana", sessionId: "s1", events });
  const turn = await server.runner.send(JSON.stringify([LUNCH]), { user: "ana", session: "s1" });
  const { open, card, page } = await openInbox(resources, { newPage, url: server.url });
  // The longest time for which the page did nothing else.
  await page.evaluate(
    `let last = performance.now(); window.stood = 0; setInterval(() => { const now = performance.now(); window.stood = Math.max(window.stood, now - last); last = now; }, 20)`,
  );
  await open(turn.pending[0]?.id ?? "");
  await card.locator(".talk li").nth(19).waitFor();
  const stood: number = await page.evaluate(
    `new Promise((resolve) => setTimeout(() => resolve(window.stood), 50))`,
  );
  // It was ten seconds on a quiet machine.
  expect(stood).toBeLessThan(5_000);
});
