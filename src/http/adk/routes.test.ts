import { expect, test } from "vitest";
import { Agent, Runner } from "../../index.ts";
import { scripted } from "../../models/scripted/index.ts";
import { createApp } from "../app.ts";
import { Site } from "../site.ts";
import { adkRoutes } from "./routes.ts";

const runner = new Runner({
  agent: new Agent({ name: "desk", model: scripted(() => "hi") }),
  ledger: "memory:",
});
const document = adkRoutes(new Site({ apps: { desk: runner } })).getOpenAPI31Document({
  openapi: "3.1.0",
  info: { title: "test", version: "0" },
});

test("every route that does something of ours is in the OpenAPI document", () => {
  const described = Object.entries(document.paths ?? {}).map(
    ([path, item]) => `${path} ${Object.keys(item).join(" ")}`,
  );
  expect(described.toSorted()).toEqual([
    "/api/reasoning_engine post",
    "/apps/{app}/users/{user}/sessions post get",
    "/apps/{app}/users/{user}/sessions/{session} post get patch delete",
    "/apps/{app}/users/{user}/sessions/{session}/events/{event}/graph get",
    "/apps/{app}/users/{user}/sessions/{session}/stream get",
    "/dev/apps/{app}/build_graph get",
    "/dev/apps/{app}/build_graph_image get",
    "/health get",
    "/list-apps get",
    "/run post",
    "/run_sse post",
    "/version get",
  ]);
});

test("bodies and answers are described by named schemas", () => {
  expect(Object.keys(document.components?.schemas ?? {}).toSorted()).toEqual([
    "AdkError",
    "AdkEvent",
    "AdkListedSession",
    "AdkNewSession",
    "AdkReasoningEngineQuery",
    "AdkRun",
    "AdkSession",
    "AdkSessionChange",
  ]);
  expect(document.paths?.["/run"]?.post?.parameters).toMatchObject([
    { name: "Idempotency-Key", in: "header" },
  ]);
});

test("sessions have titles only for who asks for them: clients of the ADK refuse members that they do not know", async () => {
  const app = createApp({ apps: { desk: runner } });
  await runner.send("When is lunch?", { user: "user", session: "s1" });
  const list = async (query: string): Promise<readonly object[]> =>
    (
      await app.fetch(new Request(`http://localhost/apps/desk/users/user/sessions${query}`))
    ).json() as Promise<readonly object[]>;
  const members = ["appName", "events", "id", "lastUpdateTime", "state", "userId"];
  expect((await list("")).map((session) => Object.keys(session).toSorted())).toEqual([members]);
  expect(await list("?titles=true")).toMatchObject([{ id: "s1", title: "When is lunch?" }]);
});
