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
  // The edit is the first of the arguments, under the name of its file, and tells all of both texts.
  expect(await card.locator(".voice-model").innerText()).toMatch(
    /path\s+a\.yaml\s+From old_text to new_text.*weekly: 5/s,
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
  await expect.poll(() => timeline.count()).toBe(2);
  const approved = await server.runner.approve(id, {
    by: { id: "boss" },
    args: { item: "laptop", quantity: 4 },
  });
  await approved.finished;
  await expect.poll(() => timeline.count()).toBe(4);
  expect(await timeline.allInnerTexts()).toEqual([
    expect.stringMatching(/^Asked\s.*journal \d+ · [\w-]{8}/s),
    expect.stringMatching(/^Seen by local \(api, unauthenticated\)/),
    expect.stringContaining("Approved by boss (host, unauthenticated), with changed quantity"),
    expect.stringMatching(/^Succeeded/),
  ]);
});

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

// One red pixel.
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==";

test("a file that the author names is shown by its bytes, and nothing in it runs or is fetched", async () => {
  const names = ["receipt", "drawing", "page", "far", "huge", "paper"];
  const display = Object.fromEntries(names.map((name) => [name, "file"] as const));
  const server = await startInboxServer(resources, {
    tools: [tool({ ...gated, name: "attach", confirmationLayout: { display } })],
  });
  const huge = Buffer.from(PNG, "base64");
  huge.writeUInt32BE(100_000, 16);
  huge.writeUInt32BE(100_000, 20);
  const [id = ""] = await server.ask("ana", {
    name: "attach",
    args: {
      receipt: { mimeType: "text/html", data: PNG },
      drawing: `data:image/svg+xml;base64,${base64('<svg xmlns="http://www.w3.org/2000/svg" onload="window.owned=1"/>')}`,
      page: base64("<script>window.owned = 1</script>"),
      far: "https://evil.example/receipt.png",
      huge: huge.toString("base64"),
      paper: base64("%PDF-1.7\n%%EOF\n"),
      note: PNG,
    },
  });
  const { page, open, card } = await openInbox(resources, { newPage, url: server.url });
  await open(id);
  // The one picture, although it is called a page; what is called a picture, and what the author did not name, is none.
  await expect.poll(() => card.getByRole("img", { name: "The picture" }).count()).toBe(1);
  const pixel = `[...document.querySelector("canvas").getContext("2d").getImageData(0, 0, 1, 1).data]`;
  await expect.poll(() => page.evaluate(pixel)).toEqual([255, 0, 0, 255]);
  const said = await card.locator(".voice-model").innerText();
  expect(said).toMatch(/Picture, 1 × 1 pixels, \d+ bytes, called text\/html/);
  // Whatever is no picture and no PDF stays the text that it is.
  expect(said).toContain("data:image/svg+xml;base64,PHN2Zy");
  expect(said).toContain(base64("<script>window.owned = 1</script>"));
  expect(said).toContain("The picture is too large to be shown.");
  expect(said).toContain("PDF document, not shown here");
  expect(said).toContain("https://evil.example/receipt.png");
  expect(await page.evaluate("window.owned")).toBeUndefined();
  expect(await card.locator("img, iframe, object, embed, svg").count()).toBe(0);
  const saved = page.waitForEvent("download");
  await card.getByRole("button", { name: "Save the file" }).last().click();
  expect((await saved).suggestedFilename()).toBe("paper.pdf");
  expect(await axeFaults(page)).toEqual([]);
});

test("a file hides nothing of what runs, and one that is not shown must be saved before it is approved", async () => {
  const names = ["attachment", "path", "paper", "moving", "damaged"];
  const display = Object.fromEntries(names.map((name) => [name, "file"] as const));
  const server = await startInboxServer(resources, {
    tools: [tool({ ...gated, name: "attach", confirmationLayout: { display } })],
  });
  const [id = ""] = await server.ask("ana", {
    name: "attach",
    args: {
      attachment: { inlineData: { mimeType: "image/png", data: PNG }, to: "x@evil.example", publish: true },
      path: "/etc/shadow1",
      paper: base64("%PDF-1.7\n%%EOF\n"),
      moving: base64("GIF89a\u0001\0\u0001\0"),
      damaged: Buffer.from(PNG, "base64").subarray(0, 36).toString("base64"),
    },
  });
  const { page, open, card, toEnd } = await openInbox(resources, { newPage, url: server.url });
  await open(id);
  const said = await card.locator(".voice-model").innerText();
  expect(said).toMatch(/attachment\s+inlineData\s+mimeType\s+image\/png\s+data\s+iVBOR/);
  expect(said).toMatch(/to\s+x@evil\.example\s+publish\s+true/);
  expect(said).toMatch(/path\s+\/etc\/shadow1/);
  await toEnd();
  await card.getByText("The picture is damaged and cannot be shown.").waitFor();
  const save = async (index: number): Promise<void> => {
    const saved = page.waitForEvent("download");
    await card.getByRole("button", { name: "Save the file" }).nth(index).click();
    await saved;
  };
  await card.getByText("Picture that may move, not shown here").waitFor();
  await card.getByText("Save and check the 3 files that are not shown first.").waitFor();
  await save(0);
  await card.getByText("Save and check the 2 files that are not shown first.").waitFor();
  await save(1);
  await card.getByText("Save and check the file that is not shown first.").waitFor();
  const approve = card.getByRole("button", { name: /^Approve/ });
  expect(await approve.getAttribute("aria-disabled")).toBe("true");
  await save(2);
  await expect.poll(() => approve.getAttribute("aria-disabled")).not.toBe("true");
});

test("hostile Markdown is laid out beside its source: no link, no picture, no markup, nothing wider than the page", async () => {
  const server = await startInboxServer(resources);
  const markdown = [
    '# <img src="https://evil.example/a.png" onerror="window.owned = 1">',
    "[Pay now](javascript:window.owned=1) and [the bank](https://evil.example/login)",
    "![a receipt](https://evil.example/pixel.png)",
    "<script>window.owned = 1</script><a href='https://evil.example'>here</a>",
    "<https://evil.example/auto> [reference][1]",
    "[1]: https://evil.example/reference",
    `**${"wide".repeat(2_000)}**`,
    `- ${"[".repeat(3_000)}`,
    "> quoted \u202Eevil\u202C `code`",
  ].join("\n\n");
  const [id = ""] = await server.ask("ana", { name: "tag", args: { markdown } });
  const { page, open, card } = await openInbox(resources, {
    newPage,
    url: server.url,
    viewport: { width: 390, height: 844 },
  });
  await open(id);
  for (const fold of await card.getByRole("button", { name: /^Show all/ }).all()) await fold.click();
  const shown = card.getByRole("group", { name: "How it will look" });
  const text = await shown.innerText();
  for (const address of ["javascript:window.owned=1", "https://evil.example/pixel.png"])
    expect(text).toContain(address);
  expect(text).toContain("<script>window.owned = 1</script>");
  expect(text).toContain("⟨U+202E⟩evil⟨U+202C⟩");
  expect(await card.locator(".markdown-source").textContent()).toContain(
    "[the bank](https://evil.example/login)",
  );
  expect(await card.locator(".voice-model").locator("a, img, script, iframe").count()).toBe(0);
  expect(await page.evaluate("window.owned")).toBeUndefined();
  const wider = `[...document.querySelectorAll(".card-scroll *")]
    .filter((one) => one.getBoundingClientRect().right > innerWidth).map((one) => one.outerHTML.slice(0, 80))`;
  expect(await page.evaluate(wider)).toEqual([]);
  expect(await axeFaults(page)).toEqual([]);
});
