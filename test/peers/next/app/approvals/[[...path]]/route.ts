import { Agent, Runner, tool } from "countersign";
import { createApp } from "countersign/http";
import { scripted } from "countersign/models/scripted";

// What a host has instead: its own agents, and its own session.
const pay = tool({
  name: "pay",
  description: "Pays.",
  requireConfirmation: true,
  execute: () => ({ paid: true }),
});
const model = scripted(({ contents }) => {
  const last = contents.at(-1)?.parts ?? [];
  return last.some(({ functionResponse }) => functionResponse !== undefined)
    ? "done"
    : [{ functionCall: { name: "pay", args: {} } }];
});
const agent = new Agent({ name: "shop", model, tools: [pay] });
const runner = new Runner({ agent, ledger: process.env["SHOP_LEDGER"] ?? "memory:" });

const approvals = createApp({
  apps: { shop: runner },
  basePath: "/approvals",
  authenticate: ({ headers }) => {
    const id = headers.get("x-shop-user");
    return id === null ? undefined : { id };
  },
});
const handle = (request: Request): Promise<Response> => approvals.fetch(request);

export const dynamic = "force-dynamic";
export { handle as DELETE, handle as GET, handle as PATCH, handle as POST };
