import { expect, test } from "vitest";
import { replayPolicy } from "../../src/cli/policy/replay-policy.ts";
import type { Policy } from "../../src/index.ts";
import { KINDS, kindTools } from "../support/browser/argument-kinds.ts";
import { useBrowser } from "../support/browser/browser.ts";
import { NOW, openFixedTimePage, startFixedTimeServer } from "../support/browser/fixed-time-inbox.ts";
import { lookAt, SIZES } from "../support/browser/look.ts";
import { giveUp, requestsIn } from "../support/ledger/failed-delivery.ts";
import { useResources } from "../support/resources.ts";

// The pages under More…, and the inbox with one, thirty and many waiting, at a time that stands still.

const resources = useResources();
const newPage = useBrowser();

const LONG_MS = 300_000;
const KEPT = {
  "grants-page-desktop-light": "grants.png",
  "delegations-page-tablet-light": "delegations-tablet.png",
  "policy-page-desktop-light": "policy.png",
  "deliveries-page-desktop-light": "deliveries.png",
  "snooze-phone-light": "snooze-phone.png",
  "palette-desktop-dark": "palette.png",
  "thirty-tablet-dark": "inbox-tablet.png",
  "thirty-list-phone-light": "inbox-list-phone.png",
};

const mayGrant: Policy = ({ tool }) =>
  tool === "reimburse"
    ? {
        outcome: "confirm",
        reason: "Payments need a second pair of eyes.",
        grants: { forMs: 3_600_000, count: 20, sum: { amount: 500 } },
      }
    : undefined;
const DENY = `rules:
  - id: no-taxi
    match: { tool: reimburse }
    when: args.purpose.contains("Taxi")
    then: deny
    reason: Taxis are booked by the desk.`;

test("grants, delegations, the replay of a policy and what was not delivered can be read at every width", {
  timeout: LONG_MS,
}, async () => {
  const server = await startFixedTimeServer(resources, {
    mode: "tokens",
    policy: mayGrant,
    app: { replay: replayPolicy },
  });
  const taxi = { name: "reimburse", args: { amount: 42, purpose: "Taxi to the fair" } };
  const id = await server.askFor("olga", "I took a taxi to the fair, 42 EUR.", taxi);
  await giveUp(server.engine.ledger, {
    seqs: await requestsIn(server.engine.ledger),
    reason: "HTTP 503 from hooks.corp.example",
  });
  const { page, open, toEnd, button, sendNow } = await openFixedTimePage(resources, {
    newPage,
    url: server.url,
    mayComplain: /401/,
  });
  const scopes = ["read", "decide", "admin"] as const;
  await page.getByLabel(/^Token/).fill(await server.tokenFor("olga", { scopes }));
  await button("Log in").click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const faults: string[] = [];
  const look = async (state: string): Promise<void> => {
    faults.push(...(await lookAt(page, { state, kept: KEPT })));
  };
  await open(id);
  await toEnd();
  await button("Approve and grant…").click();
  await page.getByRole("dialog").getByRole("button", { name: "Approve and grant" }).click();
  await sendNow();
  await expect.poll(async () => (await server.look(id)).status).toBe("succeeded");
  await page.goto(`${server.url}/#/grants`);
  await page.getByText("0 of 20 calls used").waitFor();
  await look("grants-page");
  await page.goto(`${server.url}/#/delegations`);
  await page.getByLabel("Who votes for you").fill("bob");
  await page.getByLabel("Until").fill("2026-12-01T08:00");
  await button("Delegate").click();
  await page.getByText("bob votes for olga").waitFor();
  await button("Dismiss").click();
  await look("delegations-page");
  await page.goto(`${server.url}/#/policy`);
  await page.locator("textarea").fill(DENY);
  await button("Replay").click();
  await page.getByText("Would newly deny once").waitFor();
  await look("policy-page");
  await page.goto(`${server.url}/#/deliveries`);
  await page.getByText("HTTP 503").first().waitFor();
  await look("deliveries-page");
  expect(faults).toEqual([]);
});

test("thirty requests of all kinds can be read, found and put off at every width", {
  timeout: LONG_MS,
}, async () => {
  const server = await startFixedTimeServer(resources, { startAt: NOW - 30 * 60_000, tools: kindTools() });
  const kinds = Object.values(KINDS);
  const people = ["ana.lima@corp.example", "ben", "cleo", "dora", "Émile Zola", "Zoë"];
  const asked = Array.from({ length: 30 }, (_, index) => kinds[index % kinds.length]).flatMap(
    (kind) => kind ?? [],
  );
  for (const [index, { words, ...call }] of asked.entries()) {
    await server.askFor(people[index % people.length] ?? "", words, call);
    await server.clock.advance(60_000);
  }
  const { page, rows, button } = await openFixedTimePage(resources, { newPage, url: server.url });
  await rows.nth(9).waitFor();
  await page.getByText("What happened").waitFor();
  const faults = [...(await lookAt(page, { state: "thirty", kept: KEPT }))];
  await page.keyboard.press("Control+k");
  await page.keyboard.type("invoice");
  faults.push(...(await lookAt(page, { state: "palette", kept: KEPT })));
  await page.keyboard.press("Escape");
  await button(/^Not now/).click();
  faults.push(...(await lookAt(page, { state: "snooze", kept: KEPT })));
  await page.keyboard.press("Escape");
  await page.setViewportSize(SIZES.phone);
  await page.getByRole("link", { name: "‹ Inbox" }).click();
  faults.push(...(await lookAt(page, { state: "thirty-list", sizes: ["phone"], kept: KEPT })));
  expect(faults).toEqual([]);
});
