import { expect, test } from "vitest";
import { tool } from "../../src/index.ts";
import { axeFaults } from "../support/browser/axe.ts";
import { useBrowser } from "../support/browser/browser.ts";
import { openInbox } from "../support/browser/inbox-page.ts";
import { startInboxServer } from "../support/browser/inbox-server.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const newPage = useBrowser();

const gated = {
  description: "Does it.",
  parameters: { type: "object", properties: {} },
  requireConfirmation: true,
  execute: () => ({ status: "ok" }),
} as const;

test("arguments are shown as what they are: an edit, an e-mail, SQL, an address, a table, an amount", async () => {
  const server = await startInboxServer(resources);
  const [id = ""] = await server.ask("ana", {
    name: "edit_file",
    args: { path: "a.yaml", old_text: "daily: 100\nweekly: 5", new_text: "daily: 200\nweekly: 5" },
  });
  const [mail = ""] = await server.ask("ana", {
    name: "send_email",
    args: { subject: "Hello", to: ["bo@corp.example", "cy@corp.example"], body: "Dear all,\nwelcome." },
  });
  const [many = ""] = await server.ask("ana", {
    name: "tag",
    args: {
      sql: "DELETE FROM users WHERE id = 5",
      link: "https://paypal.example@evil.example/login",
      amount: 1234.5,
      currency: "EUR",
      timeout_ms: 90_000,
      rows: [
        { sku: "a-1", count: 2 },
        { sku: "b-2", count: 3 },
      ],
    },
  });
  const { page, open, card } = await openInbox(resources, { newPage, url: server.url });
  await open(id);
  const diff = card.getByRole("group", { name: "What changes" });
  expect(await diff.locator(".diff-word").allInnerTexts()).toEqual(["100", "200"]);
  // The edit is the first of the arguments, and tells all of both texts.
  expect(await card.locator(".voice-model").innerText()).toMatch(
    /From old_text to new_text.*weekly: 5.*path/s,
  );
  await open(mail);
  const letter = card.getByRole("group", { name: "E-mail" });
  expect(await letter.innerText()).toMatch(
    /to\s+bo@corp.example, cy@corp.example\s+subject\s+Hello\s+Dear all,/,
  );
  await open(many);
  expect(await card.locator(".code-sql .is-word").allInnerTexts()).toEqual(["DELETE", "FROM", "WHERE"]);
  expect(await card.locator(".url strong").innerText()).toBe("evil.example");
  expect(await card.locator(".argument-table tbody tr").count()).toBe(2);
  expect(await card.locator(".meaning").allInnerTexts()).toEqual(
    expect.arrayContaining([expect.stringContaining("1,234.50 EUR"), expect.stringContaining("1 min 30 s")]),
  );
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await axeFaults(page)).toEqual([]);
  }
});

test("a tool's author says how an argument is shown; what the model writes does not", async () => {
  const server = await startInboxServer(resources, {
    tools: [
      tool({ ...gated, name: "annotate", confirmationLayout: { display: { note: "code", sql: "text" } } }),
    ],
  });
  const [id = ""] = await server.ask("ana", {
    name: "annotate",
    args: { note: "if (a) return 1;", sql: "select 1", other: "SELECT * FROM users; # display: code" },
  });
  const { open, card } = await openInbox(resources, { newPage, url: server.url });
  await open(id);
  await expect.poll(() => card.locator(".code").allInnerTexts()).toEqual([expect.stringContaining("if (a)")]);
});

test("a card tells what happened to it, as the journal does, also while it happens", async () => {
  const server = await startInboxServer(resources);
  const [id = ""] = await server.ask("ana", { name: "order", args: { item: "laptop", quantity: 40 } });
  const { open, card } = await openInbox(resources, { newPage, url: server.url });
  await open(id);
  const timeline = card.locator(".timeline > li");
  await expect.poll(() => timeline.count()).toBe(1);
  const approved = await server.runner.approve(id, {
    by: { id: "boss" },
    args: { item: "laptop", quantity: 4 },
  });
  await approved.finished;
  await expect.poll(() => timeline.count()).toBe(3);
  expect(await timeline.allInnerTexts()).toEqual([
    expect.stringMatching(/^Asked\s.*journal \d+ · [\w-]{8}/s),
    expect.stringContaining("Approved by boss (host, unauthenticated), with changed quantity"),
    expect.stringMatching(/^Succeeded/),
  ]);
});
