import { expect, test } from "vitest";
import { useBrowser } from "../support/browser/browser.ts";
import { openInbox } from "../support/browser/inbox-page.ts";
import { startInboxServer } from "../support/browser/inbox-server.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const newPage = useBrowser();

const LUNCH = { name: "reimburse", args: { amount: 2500, purpose: "lunch" } };
const WIRE = { name: "wire_money", args: { amount: 9000, to: "DE89 3704 0044 0532 0130 00" } };

test("nothing is wider than a phone", async () => {
  const server = await startInboxServer(resources);
  const wide = {
    name: "send_email",
    args: { to: "x".repeat(300), [`key${"y".repeat(200)}`]: "z".repeat(5000) },
  };
  const [id = ""] = await server.ask(`${"u".repeat(120)}@corp`, wide);
  const { page, open } = await openInbox(resources, {
    newPage,
    url: server.url,
    viewport: { width: 360, height: 740 },
    hasTouch: true,
  });
  const overflow = (): Promise<number> =>
    page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
  await page.locator(".row-link").first().waitFor();
  expect(await overflow()).toBe(0);
  await open(id);
  await page.getByRole("button", { name: /^Show all/ }).click();
  expect(await overflow()).toBe(0);
  expect(
    await page.evaluate(
      `(() => { const e = document.querySelector(".card-scroll"); return e.scrollWidth - e.clientWidth; })()`,
    ),
  ).toBe(0);
  await page.getByText("‹ Inbox").click();
  await page.locator(".row-link").first().waitFor();
  for (const view of ["mine", "history", "unknown", "chat"]) {
    await page.goto(`${server.url}/#/${view}`);
    await page.locator("main h1, .chat .empty").first().waitFor();
    expect(await overflow()).toBe(0);
  }
});

test("with auth on, the page asks for a token, and a session that ended loses nothing typed", async () => {
  const server = await startInboxServer(resources, { mode: "tokens" });
  const token = await server.tokenFor("ana");
  const [id = ""] = await server.ask("ana", LUNCH);
  const { page, open, button, card, sendNow } = await openInbox(resources, {
    newPage,
    url: server.url,
    mayComplain: /401/,
  });
  const dialog = page.getByRole("dialog", { name: "Log in to continue" });
  await dialog.waitFor();
  await dialog.getByLabel(/^Token/).fill("not-a-token");
  await button("Log in").click();
  await dialog.getByRole("alert").waitFor();
  await dialog.getByLabel(/^Token/).fill(token);
  await button("Log in").click();
  await dialog.waitFor({ state: "detached" });
  await page.locator(".row-link").first().waitFor();
  await open(id);
  // The page has said that the card was seen, so nothing else meets the login that ended before the decision does.
  await card.getByText("Seen by ana").first().waitFor();
  await button(/^Reject…/).click();
  await page.getByLabel(/^Reason/).fill("a reason that took long to write");
  await page.context().clearCookies();
  await button("Reject").and(page.locator("[aria-disabled=false]")).click();
  await sendNow();
  await dialog.waitFor();
  expect((await server.look(id)).status).toBe("requested");
  await dialog.getByLabel(/^Token/).fill(token);
  await button("Log in").click();
  await card.getByText("Denied by ana").first().waitFor();
  expect((await server.look(id)).decision).toMatchObject({
    reason: "a reason that took long to write",
    by: { id: "ana", authenticated: true },
  });
});

test("who asks sees who has opened the request, and nothing is written when it is opened again", async () => {
  const server = await startInboxServer(resources, { mode: "tokens" });
  const [id = ""] = await server.ask("ana", WIRE);
  const enter = async (user: string, roles: readonly string[]) => {
    const inbox = await openInbox(resources, {
      newPage,
      url: server.url,
      path: `#/confirmations/${id}`,
      mayComplain: /401/,
    });
    await inbox.page.getByLabel(/^Token/).fill(await server.tokenFor(user, { roles }));
    await inbox.button("Log in").click();
    await inbox.card.getByRole("heading", { name: "What happened" }).waitFor();
    return inbox;
  };
  const ana = await enter("ana", []);
  await ana.card.getByText("Seen by ana (api)").waitFor();
  const ines = await enter("ines", ["treasurer"]);
  // Without a reload.
  await ana.card.getByText("Seen by ines (api)").waitFor();
  const views: string[] = [];
  ines.page.on("request", (request) => {
    if (request.url().endsWith("/view")) views.push(request.url());
  });
  await ines.page.reload();
  await ines.card.getByText("Seen by ines (api)").waitFor();
  await ines.button(/^Hold/).waitFor();
  await expect.poll(() => ines.card.locator(".timeline > li").count()).toBe(3);
  expect(views).toEqual([]);
  expect((await server.look(id)).seen?.map(({ by }) => by.id)).toEqual(["ana", "ines"]);
});

test("when somebody else logs in, nothing of the one before is sent", async () => {
  const server = await startInboxServer(resources, { mode: "tokens" });
  const [ana, ben] = [await server.tokenFor("ana"), await server.tokenFor("ben")];
  const [id = ""] = await server.ask("ana", LUNCH);
  const { page, open, button, sendNow } = await openInbox(resources, {
    newPage,
    url: server.url,
    mayComplain: /401|404/,
  });
  const logIn = async (token: string): Promise<void> => {
    await page.getByLabel(/^Token/).fill(token);
    await button("Log in").click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  };
  await logIn(ana);
  await page.locator(".row-link").first().waitFor();
  await open(id);
  await button(/^Reject…/).click();
  await button("Reject").and(page.locator("[aria-disabled=false]")).click();
  await page.context().clearCookies();
  page.on("dialog", (dialog) => dialog.accept());
  await sendNow();
  await logIn(ben);
  await page.locator(".person", { hasText: "ben" }).waitFor();
  await page.getByText("This request cannot be shown").waitFor();
  expect((await server.look(id)).status).toBe("requested");
});

test("what somebody typed is not there for the next person who logs in", async () => {
  const server = await startInboxServer(resources, { mode: "tokens" });
  const tokens = await Promise.all(
    ["ana", "ben"].map((user) => server.tokenFor(user, { roles: ["treasurer"] })),
  );
  const [id = ""] = await server.ask("dora", WIRE);
  const { page, open, button } = await openInbox(resources, {
    newPage,
    url: server.url,
    mayComplain: /401/,
  });
  const typedBy = async (token: string): Promise<string> => {
    await page.getByLabel(/^Token/).fill(token);
    await button("Log in").click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await open(id);
    await button(/^Reject…/).click();
    return page.getByLabel(/^Reason/).inputValue();
  };
  const logOut = async (): Promise<void> => {
    await page.goto(`${server.url}/#/login`);
    await button("Log out").click();
    await page.getByRole("heading", { name: "Login" }).waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
  };
  await typedBy(tokens[0] ?? "");
  await page.getByLabel(/^Reason/).fill("Ana’s own words");
  await page.reload();
  await button(/^Reject…/).click();
  expect(await page.getByLabel(/^Reason/).inputValue()).toBe("Ana’s own words");
  await logOut();
  expect(await typedBy(tokens[1] ?? "")).toBe("");
});

test("a button that is off says who may; the requester withdraws; the treasurer holds to approve", async () => {
  const server = await startInboxServer(resources, { mode: "tokens" });
  const [first = ""] = await server.ask("dora", WIRE);
  const [second = ""] = await server.ask("dora", WIRE);
  const logged = async (user: string, roles: readonly string[] = []) => {
    const inbox = await openInbox(resources, { newPage, url: server.url, mayComplain: /401/ });
    await inbox.page.getByLabel(/^Token/).fill(await server.tokenFor(user, { roles }));
    await inbox.button("Log in").click();
    await inbox.page.getByRole("dialog").waitFor({ state: "detached" });
    return inbox;
  };
  const dora = await logged("dora");
  await dora.page.getByText("Nothing waits for you").waitFor();
  await dora.page.goto(`${server.url}/#/mine`);
  await expect.poll(() => dora.page.locator("tbody tr").count()).toBe(2);
  expect(await dora.page.locator("tbody").innerText()).toContain("anyone with the role treasurer");
  await dora.open(first);
  await dora.card
    .getByText("Only anyone with the role treasurer, but not the requester (dora) may decide this.")
    .waitFor();
  await dora.button("Withdraw…").click();
  await dora.page.getByRole("dialog").getByRole("button", { name: "Withdraw" }).click();
  await dora.card.locator(".card-head").getByText("Cancelled").waitFor();
  expect((await server.look(first)).status).toBe("cancelled");

  const teo = await logged("teo", ["treasurer"]);
  await teo.open(second);
  const hold = teo.button("Hold to approve").and(teo.page.locator("[aria-disabled=false]"));
  await hold.click();
  await teo.page.keyboard.press("a");
  expect(await teo.button("Undo").count()).toBe(0);
  await hold.hover();
  await teo.page.mouse.down();
  await teo.button("Undo").waitFor();
  await teo.page.mouse.up();
  await teo.sendNow();
  await dora.open(second);
  await dora.card.getByText("Approved by teo").first().waitFor();
  expect(server.ran).toEqual([WIRE]);
});

test("the page says that it is offline, and nothing can be decided then", async () => {
  const server = await startInboxServer(resources);
  const [id = ""] = await server.ask("ana", LUNCH);
  const { page, open, button, card } = await openInbox(resources, {
    newPage,
    url: server.url,
    mayComplain: /ERR_/,
  });
  const ready = button(/^Approve/).and(page.locator("[aria-disabled=false]"));
  await open(id);
  await ready.waitFor();
  await page.context().setOffline(true);
  await page.getByText("Offline", { exact: true }).waitFor();
  await card.getByText("Not connected; what you see may be old.").waitFor();
  await page.keyboard.press("a");
  expect(await button("Undo").count()).toBe(0);
  await page.context().setOffline(false);
  await ready.waitFor();
});

test("a server that comes back is listened to again, and what happened meanwhile is seen", async () => {
  const server = await startInboxServer(resources);
  const [first = ""] = await server.ask("ana", LUNCH);
  const { page, open, button, card } = await openInbox(resources, {
    newPage,
    url: server.url,
    mayComplain: /ERR_|Failed/,
    prepare: (loading) => loading.clock.install(),
  });
  await open(first);
  const ready = button(/^Approve/).and(page.locator("[aria-disabled=false]"));
  await ready.waitFor();
  // Time stands still between the click and the end of the server.
  await page.clock.pauseAt(Date.now() + 20_000);
  await ready.click();
  await button("Undo").waitFor();
  await server.stop();
  await page.clock.resume();
  await page.getByText("Reconnecting…").waitFor();
  // The click that was held could not be sent; it was not lost either.
  await page.locator(".strip").getByText("Not sent: the server cannot be reached.").waitFor();
  await server.ask("ana", { name: "tag", args: { name: "meanwhile" } });
  await server.start();
  // However long it wanted to wait before it tries again.
  await page.clock.fastForward(16_000);
  await expect.poll(() => page.locator(".row-link").count()).toBe(2);
  await page.getByText("Live", { exact: true }).waitFor();
  await button("Try again").click();
  await card.locator(".card-head").getByText("Succeeded").waitFor();
  expect(server.ran).toEqual([LUNCH]);
});

test("times are shown in the reader's own time zone", async () => {
  const server = await startInboxServer(resources);
  const [id = ""] = await server.ask("ana", LUNCH);
  const { open, card } = await openInbox(resources, {
    newPage,
    url: server.url,
    timezoneId: "Asia/Kathmandu",
    locale: "en-GB",
  });
  await open(id);
  expect(await card.locator(".consequences").innerText()).toContain("GMT+5:45");
});
