import { type AppOptions, createApp } from "../../../src/http/index.ts";
import { type NodeServer, serve } from "../../../src/http/node/index.ts";
import type { Resources } from "../resources.ts";

/** Serves apps on a free port until the test is over. */
export async function serveApp(resources: Resources, options: AppOptions): Promise<NodeServer> {
  const server = await serve({ app: createApp(options), port: 0 });
  resources.add(() => server.close({ graceMs: 0 }));
  return server;
}
