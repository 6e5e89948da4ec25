// A program and an approver, both with a client whose types are generated from /openapi.json.
import type { components, paths } from "countersign-api";
import createClient from "openapi-fetch";

declare const process: { readonly argv: readonly string[] };

type Status = components["schemas"]["CallerCall"]["status"];

const [, , baseUrl = ""] = process.argv;
const key = "order/17 ü";
const params = { path: { key } };
const as = (authorization: string) => createClient<paths>({ baseUrl, headers: { authorization } });
const bot = as("bot");
const meg = as("meg");

/** The answer, or the server's problem as an error. */
function answered<T>({ data, error }: { data?: T; error?: components["schemas"]["Problem"] }): T {
  if (data === undefined) throw new Error(`${error?.status} ${error?.code}: ${error?.detail}`);
  return data;
}

const asked = answered(
  await bot.POST("/v1/calls", {
    body: {
      key,
      app: "shop",
      tool: "refund",
      args: { amount: 40 },
      hint: "Refund 40 EUR?",
      approvers: { roles: ["manager"], notRequester: true },
      amendable: ["amount"],
      deadline: "2999-01-01T00:00:00Z",
    },
  }),
);
const seen: Status[] = [asked.status];
const tooEarly = await bot.POST("/v1/calls/{key}/claim", { params, body: {} });
const refusal = tooEarly.error?.code;

const waiting = bot.GET("/v1/calls/{key}", { params: { ...params, query: { wait: 30 } } });
const { items } = answered(
  await meg.GET("/v1/confirmations", { params: { query: { tool: "refund", limit: 10 } } }),
);
for (const { id, version } of items) {
  const body = { confirmed: true, version, args: { amount: 20 } };
  answered(await meg.POST("/v1/confirmations/{id}/decision", { params: { path: { id } }, body }));
}
const allowed = answered(await waiting);
seen.push(allowed.status);

const { claim, amended } = answered(
  await bot.POST("/v1/calls/{key}/claim", { params, body: { leaseSeconds: 30, nonce: "0123456789abcdef" } }),
);
const proof = { token: claim.token, attempt: claim.attempt };
seen.push(
  answered(await bot.POST("/v1/calls/{key}/heartbeat", { params, body: { ...proof, leaseSeconds: 60 } }))
    .status,
);
const ended = answered(
  await bot.POST("/v1/calls/{key}/result", {
    params,
    body: { ...proof, result: { refunded: claim.args["amount"] } },
  }),
);
seen.push(ended.status);
const again = await bot.POST("/v1/calls/{key}/failure", { params, body: { ...proof, error: "no" } });
const me = answered(await meg.GET("/v1/me"));

console.log(
  JSON.stringify({
    seen,
    refusal,
    amended,
    result: ended.result,
    late: again.error?.code,
    shown: items.map(({ tool, args }) => ({ tool, args })),
    me: me.principal.id,
  }),
);

/** What must not compile: the types say what the server takes, and no more. */
export async function mistakes(): Promise<void> {
  // @ts-expect-error A call needs its arguments.
  await bot.POST("/v1/calls", { body: { key, app: "shop", tool: "refund" } });
  // @ts-expect-error A request that means nothing without a body needs one.
  await bot.POST("/v1/calls", {});
  const misspelt = {
    body: {
      ...{ key, app: "shop", tool: "refund", args: {} },
      // @ts-expect-error The server refuses members that it does not know.
      aprovers: "requester",
    } satisfies components["schemas"]["Proposal"],
  };
  await bot.POST("/v1/calls", misspelt);
  // @ts-expect-error A report proves its claim.
  await bot.POST("/v1/calls/{key}/result", { params, body: { result: null } });
  // @ts-expect-error There is no such status.
  if (asked.status === "done") console.log();
  // @ts-expect-error Only an answer to a claim has one.
  console.log(asked.claim);
}
