// The server for the client example: one call waits on it.
import { createApp } from "../../src/http/index.ts";
import { serve } from "../../src/http/node/index.ts";
import { shop, userOf } from "./shop.ts";

const server = await serve({
  app: createApp({ apps: { shop }, authenticate: (request) => userOf(request) }),
  port: 0,
});
await shop.send("I want my money back", { user: "ana" });

export const { url } = server;

export async function close(): Promise<void> {
  await server.close();
  await shop.close();
}
