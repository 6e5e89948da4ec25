import { expect, test } from "vitest";
import { replayPolicy } from "../../src/cli/policy/replay-policy.ts";
import { useBrowser } from "../support/browser/browser.ts";
import { openInbox } from "../support/browser/inbox-page.ts";
import { startInboxServer } from "../support/browser/inbox-server.ts";
import { lookAt } from "../support/browser/look.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const newPage = useBrowser();

const DENY = "rules: [{ id: none, match: { tool: reimburse }, then: deny, reason: '<b>never</b>' }]";

test("an administrator replays a policy, sees what it would change, and is told what is wrong with one", async () => {
  const server = await startInboxServer(resources, { mode: "tokens", app: { replay: replayPolicy } });
  const [id = ""] = await server.ask("ana", { name: "reimburse", args: { amount: 7, purpose: "tea" } });
  const { page, button } = await openInbox(resources, {
    newPage,
    url: server.url,
    path: "#/policy",
    mayComplain: /401|422/,
  });
  await page.getByLabel(/^Token/).fill(await server.tokenFor("ops", { scopes: ["admin"] }));
  await button("Log in").click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const field = page.locator("textarea");
  await field.fill("rules: [{ id: none, then: never }]");
  await button("Replay").click();
  await page.getByText("policy.yaml:1:").waitFor();
  await field.fill(DENY);
  await button("Replay").click();
  const result = page.getByRole("region", { name: "Result" });
  await result.getByText("Would newly deny once").waitFor();
  expect(await result.innerText()).toContain("1 call was judged.");
  await result.getByText("for example").click();
  expect(await result.getByRole("link").getAttribute("href")).toContain(encodeURIComponent(id));
  expect(await lookAt(page, { state: "policy" })).toEqual([]);
});
