import { describe, expect, test } from "vitest";
import { SCOPES, type Scope } from "../../src/http/index.ts";
import { type AttackedServer, ORIGIN, type Sent, startAttackedServer } from "./attacked-server.ts";
import { ROUTES, type Route } from "./http-routes.ts";

/** One way to get at something that is not the sender's. */
interface Attack {
  readonly name: string;
  /** What the honest request becomes; undefined where the attack makes no sense on this route. */
  readonly change: (
    attacked: AttackedServer,
    honest: Sent,
    route: Route,
  ) => Promise<Sent | undefined> | Sent | undefined;
  readonly statuses: (route: Route) => readonly number[];
}

const WRITES = new Set(["POST", "PUT", "PATCH", "DELETE"]);

function as(token: string, sent: Sent): Sent {
  return withHeaders(sent, { authorization: `Bearer ${token}` });
}

function withHeaders(sent: Sent, headers: Readonly<Record<string, string>>): Sent {
  return { ...sent, headers: { ...sent.headers, ...headers } };
}

function onWrites(change: (attacked: AttackedServer, honest: Sent) => Sent): Attack["change"] {
  return (attacked, honest) => (WRITES.has(honest.method) ? change(attacked, honest) : undefined);
}

function onBodies(change: (attacked: AttackedServer, honest: Sent) => Sent): Attack["change"] {
  return (attacked, honest) => (honest.body === undefined ? undefined : change(attacked, honest));
}

/** What a token lacks that has every scope but those that would do. */
function withoutScopes({ scopes }: Route): readonly Scope[] {
  return SCOPES.filter((scope) => !scopes.includes(scope));
}

const UNKNOWN: readonly Attack[] = [
  { name: "no credentials", change: (_, honest) => honest, statuses: () => [401] },
  { name: "a bad token", change: (_, honest) => as("cst_0123456789abcdef_x", honest), statuses: () => [401] },
  {
    name: "another token's id with this one's secret",
    change: (attacked, honest) => {
      const [ana, bob] = [attacked.token("ana"), attacked.token("bob")];
      return as(`${bob.slice(0, 20)}${ana.slice(20)}`, honest);
    },
    statuses: () => [401],
  },
  {
    name: "a revoked token",
    change: (attacked, honest) => as(attacked.token("revoked"), honest),
    statuses: () => [401],
  },
  {
    name: "an expired token",
    change: (attacked, honest) => as(attacked.token("expired"), honest),
    statuses: () => [401],
  },
  {
    name: "a token where a cookie belongs",
    change: (attacked, honest) =>
      withHeaders(honest, { cookie: `__Host-countersign=${attacked.token("ana")}` }),
    statuses: () => [401],
  },
  {
    name: "the cookie alone, as every port of its host gets it",
    change: ({ cookie }, honest) => withHeaders(honest, { cookie, origin: ORIGIN }),
    statuses: () => [401],
  },
  {
    name: "the cookie with a proof that somebody made up",
    change: ({ cookie }, honest) =>
      withHeaders(honest, { cookie, origin: ORIGIN, "countersign-proof": "x".repeat(43) }),
    statuses: () => [401],
  },
  {
    name: "the proof alone",
    change: ({ page: { cookie: _, ...proof } }, honest) => withHeaders(honest, proof),
    statuses: () => [401],
  },
  {
    name: "a token in the address",
    change: (attacked, honest) => ({
      ...honest,
      path: `${honest.path}?access_token=${attacked.token("ana")}`,
    }),
    statuses: () => [401],
  },
  {
    name: "an identity in a header of a proxy",
    change: (_, honest) =>
      withHeaders(honest, {
        "x-forwarded-user": "ana",
        "x-remote-user": "ana",
        "x-forwarded-for": "127.0.0.1",
      }),
    statuses: () => [401],
  },
];

const WITHOUT_RIGHT: readonly Attack[] = [
  {
    name: "a token without the scope",
    change: async (attacked, honest, route) =>
      route.scopes.length === 0 ? undefined : as(await attacked.scoped(withoutScopes(route)), honest),
    statuses: () => [403],
  },
  {
    name: "another user's token",
    change: (attacked, honest, { asAnother }) =>
      asAnother === undefined ? undefined : as(attacked.token("bob"), honest),
    statuses: ({ asAnother = [] }) => asAnother,
  },
  {
    name: "another user's token, and the body says that it is ana's",
    change: (attacked, honest, { asAnother }) => {
      if (asAnother === undefined || honest.body === undefined) return undefined;
      const claims = {
        by: { id: "ana" },
        principal: { id: "ana", roles: ["manager"] },
        user: "ana",
        userId: "ana",
        user_id: "ana",
      };
      return as(attacked.token("bob"), { ...honest, body: { ...claims, ...(honest.body as object) } });
    },
    statuses: ({ asAnother = [] }) => [...asAnother, 422],
  },
];

const FROM_ELSEWHERE: readonly Attack[] = [
  {
    name: "a name that was pointed here",
    change: (attacked, honest) => as(attacked.token("ana"), withHeaders(honest, { host: "evil.test" })),
    statuses: () => [421],
  },
  {
    name: "loopback, where that is not what the server is called",
    change: (attacked, honest) => as(attacked.token("ana"), withHeaders(honest, { host: "127.0.0.1:8000" })),
    statuses: () => [421],
  },
  {
    name: "the cookie, from a page elsewhere",
    change: ({ page }, honest) => withHeaders(honest, { ...page, origin: "https://evil.test" }),
    statuses: () => [403],
  },
  {
    name: "the cookie, from a page that is only called like ours",
    change: ({ page }, honest) => withHeaders(honest, { ...page, origin: "http://approvals.test" }),
    statuses: () => [403],
  },
  {
    name: "the cookie, from a frame without an origin",
    change: ({ page }, honest) => withHeaders(honest, { ...page, origin: "null" }),
    statuses: () => [403],
  },
  {
    name: "the cookie, with what a browser says of a page elsewhere instead of an origin",
    change: ({ page }, honest) =>
      withHeaders(honest, { ...page, "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" }),
    statuses: () => [403],
  },
  {
    name: "a token, from a page elsewhere that writes",
    change: onWrites((attacked, honest) =>
      as(attacked.token("ana"), withHeaders(honest, { origin: "https://evil.test" })),
    ),
    statuses: () => [403],
  },
];

const MALFORMED: readonly Attack[] = [
  {
    name: "a form instead of JSON",
    change: onBodies(({ page }, honest) =>
      withHeaders(honest, { ...page, origin: ORIGIN, "content-type": "application/x-www-form-urlencoded" }),
    ),
    statuses: () => [415],
  },
  {
    name: "JSON that calls itself text",
    change: onBodies((attacked, honest) =>
      as(attacked.token("ana"), withHeaders(honest, { "content-type": "text/plain" })),
    ),
    statuses: () => [415],
  },
  {
    name: "a body of two megabytes",
    change: onWrites((attacked, honest) =>
      as(attacked.token("ana"), withHeaders({ ...honest, body: { padding: "x".repeat(2_000_000) } }, {})),
    ),
    statuses: () => [413],
  },
  {
    name: "a body nested without end",
    change: onWrites((attacked, honest) =>
      as(attacked.token("ana"), { ...honest, body: `${"[".repeat(5_000)}${"]".repeat(5_000)}` }),
    ),
    statuses: () => [400],
  },
  {
    name: "half a body",
    change: onWrites((attacked, honest) =>
      as(attacked.token("ana"), { ...honest, body: `{"confirmed": tr` }),
    ),
    statuses: () => [400],
  },
];

test("every route of the OpenAPI document has its line in the table, and no other", async () => {
  const attacked = await startAttackedServer();
  const answer = await attacked.send({ method: "GET", path: "/openapi.json" });
  const { paths } = (await answer.json()) as { readonly paths: Record<string, Record<string, unknown>> };
  const served = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(Object.keys(ROUTES).toSorted()).toEqual(served.toSorted());
});

/** Lets an attack at a route, and sees that it came to nothing but, at most, a record of its refusal. */
async function withstand(
  attacked: AttackedServer,
  sent: Sent,
  { statuses, audited }: { readonly statuses: readonly number[]; readonly audited: boolean },
): Promise<void> {
  const before = { tables: attacked.dump(), journal: await attacked.journal(), runs: attacked.runs() };
  const answer = await attacked.send(sent);
  expect(statuses, await answer.clone().text()).toContain(answer.status);
  const text = await answer.text();
  expect(text).not.toMatch(/\bat .+\.(?:ts|js):\d+/);
  expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  expect(answer.headers.getSetCookie()).toEqual([]);
  if (answer.status === 401) expect(answer.headers.get("www-authenticate")).toContain("Bearer");
  expect(attacked.dump()).toEqual(before.tables);
  const added = (await attacked.journal()).slice(before.journal.length);
  // What cannot be read is no attempt at anything yet.
  const isAttempt = audited && answer.status !== 422;
  expect(added.map(({ kind }) => kind)).toEqual(isAttempt ? ["decision-refused"] : []);
  expect(attacked.runs()).toBe(before.runs);
}

const GUARDED = Object.entries(ROUTES).filter(([, { open }]) => open === undefined);

describe.each(GUARDED)("%s", (name, route) => {
  const [method = ""] = name.split(" ");

  test.each([
    ["from somebody unknown", UNKNOWN],
    ["without the right", WITHOUT_RIGHT],
    ["from elsewhere", FROM_ELSEWHERE],
    ["malformed", MALFORMED],
  ])("%s: refused, and nothing changed but the record of it", async (_, attacks) => {
    const attacked = await startAttackedServer();
    for (const attack of attacks) {
      const sent = await attack.change(attacked, { method, ...route.request(attacked.ids) }, route);
      if (sent === undefined) continue;
      const audited = route.audited === true && attacks === WITHOUT_RIGHT;
      await withstand(attacked, sent, { statuses: attack.statuses(route), audited }).catch(
        (error: unknown) => {
          throw new Error(`${attack.name}: ${String(error)}`, { cause: error });
        },
      );
    }
    // Nor does a worker find anything that an attack left behind.
    const before = attacked.runs();
    await attacked.engine.work({ once: true });
    expect(attacked.runs()).toBe(before);
  });

  test("the honest request is answered, so that the refusals above are about the attack", async () => {
    const attacked = await startAttackedServer();
    const needed = route.scopes.length === 0 ? (["read"] as const) : route.scopes.slice(0, 1);
    const answer = await attacked.send(
      as(await attacked.scoped(needed), { method, ...route.request(attacked.ids) }),
    );
    expect([200, 204, 404], await peek(answer)).toContain(answer.status);
    if (answer.status === 404) expect(name).toContain("graph");
  });
});

/** What an answer says, unless it goes on for ever. */
async function peek(answer: Response): Promise<string> {
  if (!answer.headers.get("content-type")?.includes("event-stream")) return answer.clone().text();
  await answer.body?.cancel();
  return "a stream";
}
