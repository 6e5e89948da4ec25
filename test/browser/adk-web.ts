import { readFile } from "node:fs/promises";
import { extname, join, normalize, sep } from "node:path";
import { ensureAdkWeb } from "../../scripts/test-tools.ts";
import { type AppOptions, createApp } from "../../src/http/index.ts";
import { type NodeServer, serve } from "../../src/http/node/index.ts";
import type { Resources } from "../support/resources.ts";

const TYPES: { readonly [extension: string]: string } = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
};

const PLACE = "/dev-ui/";

/** Our server, with the ADK's own web UI, as it was published, beside it. Gives the UI's address. */
export async function serveAdkWeb(resources: Resources, options: AppOptions): Promise<string> {
  const folder = await ensureAdkWeb();
  const app = createApp({ ...options, routes: ["adk", "approvals"] });
  const server: NodeServer = await serve({
    port: 0,
    app: {
      fetch: async (request, bindings) => {
        const { pathname } = new URL(request.url);
        return pathname.startsWith(PLACE)
          ? file(folder, pathname.slice(PLACE.length))
          : app.fetch(request, bindings);
      },
    },
  });
  resources.add(() => server.close({ graceMs: 0 }));
  return `${server.url}${PLACE}`;
}

async function file(folder: string, path: string): Promise<Response> {
  // Same origin: it is told nothing of our server but that it is here.
  if (path === "assets/config/runtime-config.json") return Response.json({ backendUrl: "" });
  const name = normalize(join(folder, path === "" ? "index.html" : decodeURIComponent(path)));
  if (!name.startsWith(folder + sep)) return new Response(null, { status: 404 });
  try {
    const type = TYPES[extname(name)] ?? "application/octet-stream";
    return new Response(await readFile(name), { headers: { "content-type": type } });
  } catch {
    return new Response(null, { status: 404 });
  }
}
