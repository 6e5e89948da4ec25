// What the host programs of these examples already have: agents, and a login.
import { Agent, Runner, tool } from "../../src/index.ts";
import { scripted } from "../../src/models/scripted/index.ts";

const refund = tool({
  name: "refund",
  description: "Pays a customer back.",
  requireConfirmation: true,
  execute: () => ({ refunded: true }),
});

/** A scripted model: calls the refund tool, and says when it is done. */
const model = scripted(({ contents }) =>
  contents.at(-1)?.parts.some(({ functionResponse }) => functionResponse !== undefined) === true
    ? "It is on its way."
    : [{ functionCall: { name: "refund", args: {} } }],
);

export const agent = new Agent({ name: "shop", model, tools: [refund] });

export const shop = new Runner({ agent, ledger: "memory:" });

/** The host's own login: undefined if nobody is logged in. */
export function userOf({
  headers,
}: Request): { readonly id: string; readonly scopes?: readonly string[] } | undefined {
  const id = headers.get("x-demo-user");
  if (id === "prometheus") return { id, scopes: ["metrics"] };
  return id === null ? undefined : { id };
}
