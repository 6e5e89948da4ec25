import assert from "node:assert/strict";

/** Asks for a refund, finds the confirmation and approves it, all over HTTP. */
export async function check(ask: (path: string, init?: RequestInit) => Promise<Response>): Promise<void> {
  const headers = { "x-demo-user": "ana", "content-type": "application/json" };
  const post = async (path: string, body: object): Promise<unknown> => {
    const response = await ask(path, { method: "POST", headers, body: JSON.stringify(body) });
    assert.equal(response.status, 200, await response.clone().text());
    return response.json();
  };
  assert.equal((await ask("/v1/confirmations")).status, 401, "nobody gets in without the host's login");
  await post("/apps/shop/users/ana/sessions/s1", {});
  const newMessage = { role: "user", parts: [{ text: "I want my money back" }] };
  await post("/run", { appName: "shop", userId: "ana", sessionId: "s1", newMessage });
  const { items } = (await (await ask("/v1/confirmations", { headers })).json()) as {
    readonly items: readonly { readonly id: string }[];
  };
  assert.equal(items.length, 1, "one call waits");
  for (const { id } of items) {
    const decided = await post(`/v1/confirmations/${id}/decision?wait=10`, { confirmed: true });
    assert.deepEqual((decided as { readonly result: unknown }).result, { refunded: true });
  }
}
