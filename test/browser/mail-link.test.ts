import { expect, test } from "vitest";
import { axeFaults } from "../support/browser/axe.ts";
import { useBrowser } from "../support/browser/browser.ts";
import { keepPicture } from "../support/browser/look.ts";
import { secretsIn, startMailScene } from "../support/mail/mail-scene.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const newPage = useBrowser();
const BOB = "bob@example.com";

test("somebody opens the link of a mail, reads all of it, and approves", async () => {
  const scene = await startMailScene(resources, { isServed: true });
  const hostile = "<img src=x onerror=alert(1)>\u202Egpj";
  const id = await scene.ask({ reason: "payments <b>over</b> 4" }, { to: hostile, amount: 5 });
  await scene.link(BOB, id);
  const { parts = [] } = scene.mail.received.find(({ to }) => to.includes(BOB)) ?? {};
  const [address = ""] = /http:\S+\/link#\S+/.exec(parts[0] ?? "") ?? [];
  const { page, errors, foreign } = await newPage({ viewport: { width: 360, height: 740 } });
  const requests: string[] = [];
  page.on("request", (request) => {
    requests.push(`${request.method()} ${request.url()} ${JSON.stringify(request.headers())}`);
  });
  await page.goto(address);
  await page.getByRole("heading", { name: "This call waits for your decision." }).waitFor();
  expect(page.url()).toBe(address.split("#")[0]);
  const rows = await page.locator("dl").innerText();
  expect(rows).toContain("<img src=x onerror=alert(1)>⟨U+202E⟩gpj");
  expect(rows).toContain("payments <b>over</b> 4");
  expect(await page.locator("img, b").count()).toBe(0);
  expect(await axeFaults(page)).toEqual([]);
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  expect(await scene.status(id)).toBe("requested");
  await keepPicture(page, "mail-link", "mail-link.png");
  await page.getByLabel(/^Reason/).fill("read it");
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByRole("heading", { name: /^Approved/ }).waitFor();
  expect((await scene.engine.confirmation(id)).decision).toMatchObject({
    by: { id: "bob", kind: "channel" },
    via: "mail link",
    reason: "read it",
  });
  expect(await page.getByRole("button", { name: "Approve" }).isVisible()).toBe(false);
  // The secret was in no address and no header: not in a referrer either.
  const [secret = ""] = secretsIn(address);
  expect(requests.length).toBeGreaterThanOrEqual(3);
  expect(requests.join("\n")).not.toContain(secret);
  expect([errors, foreign]).toEqual([[], []]);
  // Opened again, in this tab or another one, it says only that it was used.
  await page.goto(address);
  await page.getByRole("alert").getByText("has been used").waitFor();
  expect(await page.locator("dl").innerText()).toBe("");
});

test("the page decides nothing without a click, and says what is wrong with a link", async () => {
  const scene = await startMailScene(resources, { isServed: true });
  const id = await scene.ask();
  const secret = await scene.link(BOB, id);
  const { parts = [] } = scene.mail.received.find(({ to }) => to.includes(BOB)) ?? {};
  const [address = ""] = /http:\S+\/link#\S+/.exec(parts[0] ?? "") ?? [];
  const { page } = await newPage();
  await page.goto(address.split("#")[0] ?? "");
  await page.getByRole("alert").getByText("Open the link from the mail").waitFor();
  await page.goto(`${address}x`);
  await page.getByRole("alert").getByText("not valid").waitFor();
  await page.goto(address);
  await page.getByRole("button", { name: "Reject" }).waitFor();
  await page.reload();
  await page.getByRole("alert").getByText("Open the link from the mail").waitFor();
  expect(await scene.status(id)).toBe("requested");
  expect(await scene.post("card", { link: secret })).toMatchObject({ status: 200 });
  await page.goto(address);
  await page.getByRole("button", { name: "Reject" }).click();
  await page.getByRole("heading", { name: /^Denied/ }).waitFor();
  expect(await scene.status(id)).toBe("denied");
});
