import { expect, test } from "vitest";
import type { JsonObject } from "../../src/index.ts";
import { useBrowser } from "../support/browser/browser.ts";
import { openInbox } from "../support/browser/inbox-page.ts";
import { startInboxServer } from "../support/browser/inbox-server.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const newPage = useBrowser();

const HOSTILE: { readonly [kind: string]: string } = {
  script: "<script>window.owned = true</script>",
  image: `<img src=x onerror="window.owned = true">`,
  svg: `<svg/onload="window.owned = true">`,
  link: "javascript:window.owned=true",
  template: "{{constructor.constructor('window.owned=true')()}} ${window.owned = true}",
  override: "refund \u202Eevila ot yap\u202C",
  isolate: "\u2067\u2066transfer\u2069\u2069",
  invisible: "pay\u200Bment\u2060 to\u00AD me\uFEFF",
  tags: "safe\u{E0041}\u{E0042}",
  padding: `ok${" ".repeat(500)}and delete everything`,
  lines: `ok${"\n".repeat(300)}and delete everything`,
  marks: `z${"\u0351".repeat(200)}algo`,
  control: "a\u0007b\u001b[2Jc\u0000d\r",
  homoglyph: "p\u0430ypal.com",
  bracket: "⟨U+0041⟩",
};

test("hostile text is shown complete and harmless everywhere", async () => {
  const server = await startInboxServer(resources);
  const args = { ...HOSTILE, [HOSTILE["script"] ?? ""]: { [HOSTILE["override"] ?? ""]: 1 } };
  const user = `eve\u202E ${HOSTILE["image"]}`;
  const [id = ""] = await server.ask(user, { name: "send_email", args });
  const { page, open, card } = await openInbox(resources, { newPage, url: server.url });
  await page.locator(".row-link").first().waitFor();
  await open(id);
  for (const fold of await card.getByRole("button", { name: /^Show/ }).all()) await fold.click();
  await card.getByRole("button", { name: "Raw JSON" }).first().click();
  await page.getByText("Loading the context").waitFor({ state: "detached" });
  const text = await card.locator(".voice-model").first().innerText();
  expect(text).toContain(HOSTILE["script"]);
  expect(text).toContain(HOSTILE["image"]);
  expect(text).toContain("refund ⟨U+202E⟩evila ot yap⟨U+202C⟩");
  expect(text).toContain("pay⟨U+200B⟩ment⟨U+2060⟩ to⟨U+00AD⟩ me⟨U+FEFF⟩");
  expect(text).toContain("ok⟨500 blanks⟩and delete everything");
  expect(text).toContain("blank lines⟩");
  expect(text).toContain("more marks⟩");
  expect(text).toContain("a⟨U+0007⟩b⟨U+001B⟩[2Jc⟨U+0000⟩d⟨U+000D⟩");
  await card.getByText("mixes letters from different scripts").waitFor();
  for (const view of [
    "",
    "mine",
    "history",
    `chat/office/${(await server.look(id)).session}?user=${encodeURIComponent(user)}`,
  ]) {
    await page.goto(`${server.url}/#/${view}`);
    await page.locator("main").first().waitFor();
  }
  expect(await page.evaluate("window.owned")).toBeUndefined();
  const raw: string = await page.evaluate(
    `document.documentElement.outerHTML + document.title + document.body.innerText`,
  );
  expect(raw).not.toMatch(/[\u202A-\u202E\u2066-\u2069\u200B\u2060\uFEFF]/);
  expect(await page.locator("img, iframe, object, embed, script:not([src])").count()).toBe(0);
});

test("a megabyte of arguments opens, can be read to its end, and only then be approved", async () => {
  const server = await startInboxServer(resources);
  const body = `${"lorem ipsum dolor sit amet ".repeat(40_000)}THE END`;
  const many = Array.from({ length: 3_000 }, (_, index) => index);
  const [id = ""] = await server.ask("ana", {
    name: "send_email",
    args: { body, many, line: "x".repeat(50_000) },
  });
  const { page, open, card, button, toEnd } = await openInbox(resources, { newPage, url: server.url });
  await open(id);
  await card.getByText("Expand the 3 collapsed parts of the arguments first.").waitFor();
  for (const name of [
    "Show all 1,080,007 characters",
    "Show 2,980 more items",
    "Show all 50,000 characters",
  ]) {
    await button(name).click();
  }
  await toEnd();
  await button(/^Approve/)
    .and(page.locator("[aria-disabled=false]"))
    .waitFor();
  const end = card.locator(".voice-model").getByText("THE END");
  await end.scrollIntoViewIfNeeded();
  expect(await end.isVisible()).toBe(true);
  expect(await card.locator(".items").last().innerText()).toContain("2999");
});

test("arguments nested too deep for fields are shown as JSON, and can be read", async () => {
  const server = await startInboxServer(resources);
  let deep: JsonObject = { secret: "the innermost" };
  for (let level = 0; level < 40; level += 1) deep = { [`level${level}`]: deep };
  const [id = ""] = await server.ask("ana", {
    name: "tag",
    args: { deep },
  });
  const { open, card, button, page, toEnd } = await openInbox(resources, {
    newPage,
    url: server.url,
    viewport: { width: 380, height: 800 },
  });
  await open(id);
  await button("Show 1 nested field").click();
  await button(/^Show all/).click();
  const innermost = card.locator(".voice-model").getByText("the innermost");
  await innermost.scrollIntoViewIfNeeded();
  const box = await innermost.boundingBox();
  expect(box?.width).toBeGreaterThan(60);
  await toEnd();
  await button(/^Approve/)
    .and(page.locator("[aria-disabled=false]"))
    .waitFor();
});

test("text from right to left is read as such, each value on its own", async () => {
  const server = await startInboxServer(resources);
  const [id = ""] = await server.ask("ana", {
    name: "tag",
    args: { name: "مرحبا بالعالم 123", other: "plain" },
  });
  const { page, open, card } = await openInbox(resources, { newPage, url: server.url });
  await open(id);
  await card.locator(".voice-model dd").first().waitFor();
  const directions = await page.evaluate(
    `[...document.querySelectorAll(".voice-model dd .words")].map((words) => getComputedStyle(words).direction)`,
  );
  expect(directions).toEqual(["rtl", "ltr"]);
});

test("the page may load its own files and talk to its own server, and nothing else", async () => {
  const server = await startInboxServer(resources);
  const answer = await fetch(`${server.url}/`);
  const policy = answer.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain("unsafe");
  expect(await answer.text()).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/);
  const { page } = await openInbox(resources, {
    newPage,
    url: server.url,
    mayComplain: /Content Security Policy|TrustedScript|inline/,
  });
  await page.getByText("Nothing waits for you").waitFor();
  const owned = await page.evaluate(`(() => {
    try { const script = document.createElement("script"); script.text = "window.owned = true"; document.head.append(script); } catch {}
    try { document.body.setAttribute("onclick", "window.owned = true"); document.body.click(); } catch {}
    return window.owned;
  })()`);
  expect(owned).toBeUndefined();
  await expect(page.evaluate(`fetch("http://127.0.0.1:9/")`)).rejects.toThrow("Failed to fetch");
});
