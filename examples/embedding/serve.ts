// A separate server, like `countersign serve`.

// #region serve
import { createApp } from "../../src/http/index.ts";
import { serve } from "../../src/http/node/index.ts";

const app = createApp({ apps: { shop }, authenticate: (request) => userOf(request) });
const server = await serve({ app, host: "127.0.0.1", port: 0 });
const worker = shop.work(); // decisions made elsewhere, expiry, recovery
console.log(server.url);

// #endregion

import { check } from "./check.ts";
import { shop, userOf } from "./shop.ts";

await check((path, init) => fetch(`${server.url}${path}`, init));
// #region close
await server.close({ graceMs: 5_000 }); // live feeds end, what is being answered may finish
await worker.stop();
await shop.close();
// #endregion
