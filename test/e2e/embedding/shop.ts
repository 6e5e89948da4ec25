import { Agent, Runner, tool } from "../../../src/index.ts";
import { scripted } from "../../../src/models/scripted/index.ts";

/** An agent that wants to pay, whatever it is told, and says "done" when it has. */
export function createShop(): Runner {
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
  return new Runner({ agent: new Agent({ name: "shop", model, tools: [pay] }), ledger: "memory:" });
}

/** The host's own login: a header that only it sets. */
export function shopLogin({ headers }: Request): { readonly id: string } | undefined {
  const id = headers.get("x-shop-user");
  return id === null ? undefined : { id };
}
