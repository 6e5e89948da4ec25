import { expect, test } from "vitest";
import { KINDS, kindTools } from "../support/browser/argument-kinds.ts";
import { useBrowser } from "../support/browser/browser.ts";
import { openFixedTimePage, startFixedTimeServer } from "../support/browser/fixed-time-inbox.ts";
import { lookAt } from "../support/browser/look.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const newPage = useBrowser();

const KEPT = {
  "kind-email-desktop-light": "email.png",
  "kind-sql-desktop-dark": "sql.png",
  "kind-markdown-desktop-light": "markdown.png",
  "kind-table-desktop-light": "table.png",
  "kind-picture-tablet-light": "picture-tablet.png",
};

test("every kind of arguments can be read at every width, light and dark", { timeout: 300_000 }, async () => {
  const server = await startFixedTimeServer(resources, { tools: kindTools() });
  const { page, open, card, toEnd } = await openFixedTimePage(resources, { newPage, url: server.url });
  const faults: string[] = [];
  for (const [kind, { words, ...call }] of Object.entries(KINDS)) {
    await open(await server.askFor("ana", words, call));
    await card.getByText("What happened").waitFor();
    faults.push(...(await lookAt(page, { state: `kind-${kind}`, kept: KEPT })));
    await toEnd();
  }
  expect(faults).toEqual([]);
});
