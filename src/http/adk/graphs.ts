import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { CountersignError } from "../../protocol/index.ts";
import type { AnyAgent } from "../../runtime/index.ts";
import type { HttpEnv } from "../env.ts";
import { requireScope } from "../scopes.ts";
import type { Site } from "../site.ts";
import { describeAgent, drawAgent } from "./agent-graph.ts";
import { serveAdk } from "./document.ts";
import { sessionPath } from "./schemas.ts";
import { readSession } from "./sessions.ts";

const appPath = z.object({ app: z.string() });
const drawing = z.object({ dotSrc: z.string() });

/** The structure of an app's agents, for user interfaces that draw it. */
export function serveGraphs(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  const graph = {
    summary: "An app's agents and tools.",
    params: appPath,
    answer: { schema: z.looseObject({}) },
  };
  serveAdk(routes, { method: "get", path: "/dev/apps/{app}/build_graph", ...graph }, (context) => {
    const agent = agentIn(site, context);
    return context.json({ name: agent.name, root_agent: describeAgent(agent) });
  });
  const image = { ...graph, summary: "The same, as an image." };
  serveAdk(routes, { method: "get", path: "/dev/apps/{app}/build_graph_image", ...image }, (context) => {
    const dotSrc = drawAgent(agentIn(site, context), { dark: context.req.query("dark_mode") === "true" });
    // The graph of the whole app is under the empty name, and once more by itself.
    return context.json({ "": { dotSrc }, dotSrc });
  });
  const event = {
    path: "/apps/{app}/users/{user}/sessions/{session}/events/{event}/graph",
    summary: "An app's agents, with those of one event highlighted.",
    params: sessionPath.extend({ event: z.string() }),
    answer: { schema: drawing },
  };
  serveAdk(routes, { method: "get", ...event }, async (context) => {
    const { events, appName } = await readSession(site, context);
    const id = context.req.param("event") ?? "";
    const found = events.find((one) => one.id === id);
    if (found === undefined) throw new CountersignError("unknown-call", `Event not found: ${id}`);
    const names = (found.content?.parts ?? []).flatMap(({ functionCall, functionResponse }) => {
      const name = (functionCall ?? functionResponse)?.name;
      return name === undefined ? [] : [name];
    });
    const dotSrc = drawAgent(site.runner(appName).agent, { dark: true, active: [found.author, ...names] });
    return context.json({ dotSrc });
  });
}

function agentIn(site: Site, context: Context<HttpEnv>): AnyAgent {
  requireScope(context, "read");
  const app = context.req.param("app") ?? "";
  if (site.appNames.includes(app)) return site.runner(app).agent;
  throw new CountersignError("unknown-app", `App not found: ${app}`);
}
