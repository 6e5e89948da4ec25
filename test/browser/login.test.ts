import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { createLoginLink } from "../../src/http/index.ts";
import { axeFaults } from "../support/browser/axe.ts";
import { useBrowser } from "../support/browser/browser.ts";
import { openInbox } from "../support/browser/inbox-page.ts";
import { startInboxServer } from "../support/browser/inbox-server.ts";
import { keepPicture } from "../support/browser/look.ts";
import { TestIssuer } from "../support/http/issuer.ts";
import { cookiesOf, type Served, startServed } from "../support/http/served.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const newPage = useBrowser();

/** Asks who is logged in, in a page: with what a page of this origin can read, and the cookie that the browser adds. */
const STATUS_AS_PAGE = `(async () => {
  const proof = localStorage.getItem("countersign.proof") ?? "";
  return (await fetch("/v1/me", { headers: { "countersign-proof": proof } })).status;
})()`;

/** Another program on this machine: a page on another port, and what the browser sent to it. */
async function otherPort(): Promise<{ readonly url: string; readonly cookies: readonly string[] }> {
  const cookies: string[] = [];
  const server = createServer(({ headers }, response) => {
    if (headers.cookie !== undefined) cookies.push(headers.cookie);
    response.writeHead(200, { "content-type": "text/html" }).end("<title>another program</title>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  resources.add(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, cookies };
}

/** Somebody else's page: another origin of the same site, so that browsers do send our cookie along. */
async function foreignPage(): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end("<title>elsewhere</title>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  resources.add(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** A question that ana has to answer. */
async function askAna(served: Served): Promise<string> {
  const headers = { authorization: `Bearer ${await served.tokenFor("ana")}` };
  await served.send("/apps/desk/users/ana/sessions/s1", { headers, body: {} });
  const newMessage = { role: "user", parts: [{ text: "Pay." }] };
  await served.send("/run", {
    headers,
    body: { appName: "desk", userId: "ana", sessionId: "s1", newMessage },
  });
  const { items } = (await (await served.send("/v1/confirmations", { headers })).json()) as {
    readonly items: readonly { readonly id: string }[];
  };
  return items[0]?.id ?? "";
}

test("opening a login link does nothing; a click on its page logs this browser in, and no other", async () => {
  const served = await startServed(resources, { mode: "local" });
  const link = await createLoginLink({ ledger: served.ledger, publicUrl: served.url, user: "local:ana" });
  const { page, errors } = await newPage();
  await page.goto(link);
  await page.reload();
  // In a tab that shows the page already, only what stands behind the # changes.
  await page.goto(link);
  await page.waitForURL(`${served.url}/auth/login`);
  expect(await page.context().cookies()).toEqual([]);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.waitForURL(`${served.url}/`);
  expect(await page.evaluate(STATUS_AS_PAGE)).toBe(200);
  expect(await page.evaluate("document.cookie")).toBe("");
  const other = await newPage();
  await other.page.goto(link);
  await other.page.getByRole("button", { name: "Log in" }).click();
  await other.page.getByRole("alert").getByText("Invalid or expired login").waitFor();
  expect(errors).toEqual([]);
});

test("a token that is typed in logs in, and a wrong one says so", async () => {
  const served = await startServed(resources, { mode: "tokens" });
  const { page } = await newPage();
  await page.goto(`${served.url}/auth/login`);
  await page.getByLabel("Token").fill("cst_wrong");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("alert").getByText("Invalid or expired login").waitFor();
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await axeFaults(page)).toEqual([]);
    await keepPicture(page, `login-server-${colorScheme}`, colorScheme === "light" ? "login.png" : undefined);
  }
  await page.getByLabel("Token").fill(await served.tokenFor("ana"));
  await page.getByRole("button", { name: "Log in" }).click();
  await page.waitForURL(`${served.url}/`);
  expect(await page.evaluate(STATUS_AS_PAGE)).toBe(200);
  await page.reload();
  expect(await page.evaluate(STATUS_AS_PAGE)).toBe(200);
  const tab = await page.context().newPage();
  await tab.goto(served.url);
  expect(await tab.evaluate(STATUS_AS_PAGE)).toBe(200);
});

test("a page of another origin, in a browser in which ana is logged in, neither decides nor reads", async () => {
  const answered: number[] = [];
  const info = (facts: object): void => {
    if ("status" in facts) answered.push(Number(facts.status));
  };
  const logger = { info, warn: info, error: info };
  const served = await startServed(resources, { mode: "tokens", app: { logger } });
  const id = await askAna(served);
  const login = await served.send("/auth/login", { body: { token: await served.tokenFor("ana") } });
  const [name = "", value = ""] = cookiesOf(login).split("=");
  const { page } = await newPage();
  await page.context().addCookies([{ name, value, url: served.url, httpOnly: true, sameSite: "Strict" }]);
  await page.goto(await foreignPage());
  const target = `${served.url}/v1/confirmations/${id}/decision`;
  answered.length = 0;
  const outcomes = await page.evaluate(async (address) => {
    const tries: RequestInit[] = [
      { method: "POST", mode: "no-cors", body: JSON.stringify({ confirmed: true }) },
      {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ confirmed: true }),
      },
      { method: "GET" },
    ];
    const told: string[] = [];
    for (const init of tries) {
      const answer = await fetch(address, { credentials: "include", ...init }).catch(() => undefined);
      told.push(answer === undefined ? "blocked" : answer.type);
    }
    return told;
  }, target);
  // The browser keeps the answers from it, and there was nothing in them: a write, a preflight, a read without proof.
  expect(outcomes).toEqual(["blocked", "blocked", "blocked"]);
  expect(answered).toEqual([403, 403, 401]);
  const { confirmation } = (await served.ledger.load({ confirmation: id })) ?? {};
  expect(confirmation?.status).toBe("requested");
});

test("another program on this machine gets the cookie, and can do nothing with it", async () => {
  const served = await startServed(resources, { mode: "local" });
  const link = await createLoginLink({ ledger: served.ledger, publicUrl: served.url, user: "local:ana" });
  const { page } = await newPage();
  await page.goto(link);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.waitForURL(`${served.url}/`);
  const program = await otherPort();
  // By a link or an address: it is the same site, so the browser sends what it has for the host.
  await page.evaluate(`location.assign(${JSON.stringify(program.url)})`);
  await page.waitForURL(program.url);
  const [cookie = ""] = program.cookies;
  expect(cookie).toMatch(/^countersign=[\w-]{43}$/);
  expect(await page.evaluate("localStorage.length")).toBe(0);
  const id = await askAna(served);
  const tries: readonly (readonly [string, object?])[] = [
    ["/v1/me"],
    ["/v1/confirmations"],
    ["/v1/confirmations/stream"],
    ["/list-apps"],
    [`/v1/confirmations/${id}/decision`, { confirmed: true }],
    ["/run", { appName: "desk", userId: "local:ana", sessionId: "s1", newMessage: { parts: [] } }],
  ];
  for (const [path, body] of tries)
    for (const origin of [undefined, served.url]) {
      const headers = { cookie, ...(origin === undefined ? {} : { origin }) };
      const answer = await served.send(path, { headers, ...(body === undefined ? {} : { body }) });
      expect([path, answer.status]).toEqual([path, 401]);
    }
  // The page itself goes on.
  await page.goto(served.url);
  expect(await page.evaluate(STATUS_AS_PAGE)).toBe(200);
});

const LUNCH = { name: "reimburse", args: { amount: 2500, purpose: "lunch" } };

test("somebody logs in at their organisation, in a new tab, and the page goes on by itself", async () => {
  const issuer = await TestIssuer.open();
  resources.add(() => issuer.close());
  const client = { id: "inbox" };
  const inboxServer = await startInboxServer(resources, {
    mode: "oidc",
    oidc: { issuer: issuer.url, audience: "countersign", client },
  });
  const [id = ""] = await inboxServer.ask("ana", LUNCH);
  const { page, card, button } = await openInbox(resources, {
    newPage,
    url: inboxServer.url,
    path: `#/confirmations/${id}`,
    mayComplain: /401/,
  });
  const dialog = page.getByRole("dialog", { name: "Log in to continue" });
  await dialog.waitFor();
  const [tab] = await Promise.all([
    page.waitForEvent("popup"),
    page.getByRole("link", { name: "Log in on the server’s own page" }).click(),
  ]);
  await tab.locator(".person", { hasText: "ana" }).waitFor();
  await tab.locator(".row-link").first().waitFor();
  await tab.close();
  await page.bringToFront();
  await dialog.waitFor({ state: "detached" });
  await card.getByRole("heading", { name: "reimburse" }).waitFor();
  await button(/^Approve/)
    .and(page.locator("[aria-disabled=false]"))
    .waitFor();
  await page.locator(".person", { hasText: "ana" }).waitFor();
  expect(await page.evaluate("document.cookie")).toBe("");
});

test("a login link that is pasted logs in, once", async () => {
  const inboxServer = await startInboxServer(resources, { mode: "local" });
  const { ledger } = inboxServer.engine;
  const link = await createLoginLink({ ledger, publicUrl: inboxServer.url, user: "local:ana" });
  const open = () => openInbox(resources, { newPage, url: inboxServer.url, mayComplain: /401/ });
  const [first, second] = [await open(), await open()];
  await first.page.getByLabel(/^Token/).fill(` ${link} `);
  await first.button("Log in").click();
  await first.page.locator(".person", { hasText: "local:ana" }).waitFor();
  await second.page.getByLabel(/^Token/).fill(link);
  await second.button("Log in").click();
  await second.page.getByRole("alert").getByText("Invalid or expired login").waitFor();
  expect(await second.page.context().cookies()).toEqual([]);
});

test("a session that ends while a reason is being typed leaves it there, and the place in it", async () => {
  const inboxServer = await startInboxServer(resources, { mode: "tokens" });
  const token = await inboxServer.tokenFor("ana");
  const [id = ""] = await inboxServer.ask("ana", LUNCH);
  const { page, open, card, sendNow } = await openInbox(resources, {
    newPage,
    url: inboxServer.url,
    mayComplain: /401|ERR_/,
  });
  const dialog = page.getByRole("dialog", { name: "Log in to continue" });
  const logIn = async (): Promise<void> => {
    await dialog.getByLabel(/^Token/).fill(token);
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
  };
  await logIn();
  await open(id);
  await page.keyboard.press("r");
  await page.keyboard.type("this was too ");
  await page.context().clearCookies();
  // The stream ends and wants to come back, as whoever it was.
  await inboxServer.stop();
  await inboxServer.start();
  await dialog.waitFor();
  await logIn();
  await page.keyboard.type("much");
  expect(await page.getByLabel(/^Reason/).inputValue()).toBe("this was too much");
  await page.getByText("Live").waitFor();
  await card.getByRole("button", { name: "Reject" }).and(page.locator("[aria-disabled=false]")).waitFor();
  await page.keyboard.press("Control+Enter");
  await sendNow();
  await card.getByText("Denied by ana").first().waitFor();
  expect((await inboxServer.look(id)).decision).toMatchObject({ reason: "this was too much" });
});

const WIRE = { name: "wire_money", args: { amount: 9000, to: "DE89 3704 0044 0532 0130 00" } };
const TREASURER = { roles: ["treasurer"] };

/** Ana holds a click on a page whose time stands still; meanwhile bob logs in in another tab. */
async function holdWhileBobLogsIn(prepare: (page: Page) => Promise<unknown>) {
  const inboxServer = await startInboxServer(resources, { mode: "tokens" });
  const [ana, bob] = [
    await inboxServer.tokenFor("ana", TREASURER),
    await inboxServer.tokenFor("bob", TREASURER),
  ];
  const [id = ""] = await inboxServer.ask("carl", WIRE);
  const { page, open, button } = await openInbox(resources, {
    newPage,
    url: inboxServer.url,
    mayComplain: /401/,
    prepare: async (hers) => {
      await hers.clock.install();
      await prepare(hers);
    },
  });
  await page.getByLabel(/^Token/).fill(ana);
  await button("Log in").click();
  await page.locator(".person", { hasText: "ana" }).waitFor();
  await open(id);
  // Whoever is asked whether to leave the page stays.
  page.on("dialog", (dialog) => void dialog.dismiss());
  await button(/^Reject…/).click();
  const reject = button("Reject").and(page.locator("[aria-disabled=false]"));
  await reject.waitFor();
  await page.clock.pauseAt(Date.now() + 20_000);
  await reject.click();
  await button("Undo").waitFor();
  const tab = await page.context().newPage();
  await tab.goto(`${inboxServer.url}/auth/login`);
  await tab.getByLabel("Token").fill(bob);
  await tab.getByRole("button", { name: "Log in" }).click();
  await tab.locator(".person", { hasText: "bob" }).waitFor();
  return { page, button, decision: async () => (await inboxServer.look(id)).decision };
}

test("a click that is held when somebody else logs in in another tab is not sent as theirs", async () => {
  const { page, decision } = await holdWhileBobLogsIn(async () => undefined);
  await page.clock.resume();
  await page.locator(".person", { hasText: "bob" }).waitFor();
  expect(await decision()).toBeUndefined();
});

test("a held click that is sent before the page has noticed somebody else's login is refused", async () => {
  // Nobody tells this page of another tab.
  const { page, button, decision } = await holdWhileBobLogsIn((hers) =>
    hers.addInitScript(`
      const listen = window.addEventListener;
      window.addEventListener = function (type, ...rest) {
        if (type !== "storage" && type !== "focus") listen.call(this, type, ...rest);
      };`),
  );
  const refused = page.waitForResponse((response) => response.url().endsWith("/decision"));
  await button("Send now").click();
  expect((await refused).status()).toBe(401);
  // It finds out by itself who is logged in now, and begins anew.
  await page.clock.resume();
  await page.locator(".person", { hasText: "bob" }).waitFor();
  expect(await decision()).toBeUndefined();
});
