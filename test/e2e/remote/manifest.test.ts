import { expect, test } from "vitest";
import { AdkClient, told } from "../../support/http/adk-client.ts";
import { makeFolder } from "../../support/processes/command-line.ts";
import { useResources } from "../../support/resources.ts";
import { startA2aServer } from "../a2a/a2a-server.ts";
import { order } from "./calling-server.ts";

const resources = useResources();

const MANIFEST = `apiVersion: kagent.dev/v1alpha2
kind: Agent
metadata: { name: office }
spec:
  declarative:
    systemMessage: You ask the desk.
    tools:
    - { type: Agent, agent: { name: desk } }
`;

test("a manifest's agent elsewhere is asked, its call is approved here and runs there", async () => {
  const a2aServer = await startA2aServer(resources);
  const folder = makeFolder();
  folder.write("office.yaml", MANIFEST);
  folder.write(
    "remote-agents.yaml",
    `agents:\n  desk: { url: "${a2aServer.url}", description: Manages files. }\n`,
  );
  const server = folder.start(["serve", "office.yaml", "--port", "0"]);
  const [, url = ""] = /is running at (http:\S+)/.exec(await server.until("signed")) ?? [];
  const ana = new AdkClient({ url }, { app: "office" });
  await ana.createSession("s");
  await ana.run("s", `desk request=${order({ id: "c-1", name: "delete_file", args: { path: "a" } })}`);
  const page = await (await fetch(`${url}/v1/confirmations`)).json();
  const [open] = (page as { readonly items: readonly { readonly id: string }[] }).items;
  expect(open).toMatchObject({ tool: "delete_file", agent: "desk", source: "desk", args: { path: "a" } });
  expect(a2aServer.ran).toEqual([]);
  const response = { confirmed: true };
  const answer = { functionResponse: { id: open?.id ?? "", name: "adk_request_confirmation", response } };
  const { events } = await ana.run("s", { role: "user", parts: [answer] });
  expect(told(events).join("\n")).toContain("ok");
  expect(a2aServer.ran).toEqual([{ name: "delete_file", args: { path: "a" } }]);
});
