// Countersign in a Next app: this is `app/approvals/[[...path]]/route.ts`.

// #region next
import { createApp } from "../../src/http/index.ts";

const approvals = createApp({
  apps: { shop },
  basePath: "/approvals",
  authenticate: (request) => userOf(request),
});
const handle = (request: Request): Promise<Response> => approvals.fetch(request);

export const dynamic = "force-dynamic";
export { handle as DELETE, handle as GET, handle as PATCH, handle as POST };

// #endregion

import { check } from "./check.ts";
import { shop, userOf } from "./shop.ts";

await check((path, init) => handle(new Request(`http://localhost:3000/approvals${path}`, init)));
await shop.close();
