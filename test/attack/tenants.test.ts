import { expect, onTestFinished, test } from "vitest";
import { createTenants, SCOPES } from "../../src/http/index.ts";
import {
  type AttackedServer,
  type Sent,
  startAttackedServer,
  startOtherServer,
  toRequest,
} from "./attacked-server.ts";
import { ROUTES } from "./http-routes.ts";

const TENANT = "x-tenant";

/** Two tenants behind one server, each in the middle of its day. */
async function startTenants() {
  const [mine, theirs] = [await startAttackedServer(), await startOtherServer()];
  const servers: Readonly<Record<string, AttackedServer>> = { mine, theirs };
  const tenants = createTenants({
    tenantOf: (request) => request.headers.get(TENANT) ?? undefined,
    open: async (name) => servers[name],
  });
  onTestFinished(() => tenants.close());
  let sentSoFar = 0;
  const send = (sent: Sent, token: string): Promise<Response> => {
    const headers = { ...sent.headers, [TENANT]: "mine", authorization: `Bearer ${token}` };
    // From another place each time: wrong credentials from one place are soon not even looked at.
    const remoteAddress = `10.0.0.${++sentSoFar}`;
    return tenants.fetch(toRequest({ ...sent, headers }), { remoteAddress });
  };
  return { mine, theirs, send };
}

/** A batch has an answer for each of its members. */
interface Found {
  readonly results?: readonly { readonly status: number }[];
}

const NAMES = Object.keys(ROUTES);

test("with another tenant's token no route answers", async () => {
  const { mine, theirs, send } = await startTenants();
  const before = await contentOf(mine);
  for (const name of NAMES) {
    const route = ROUTES[name];
    if (route === undefined || route.open === true) continue;
    const answer = await send(
      { method: methodOf(name), ...route.request(mine.ids) },
      await theirs.scoped(SCOPES),
    );
    expect([name, answer.status]).toEqual([name, 401]);
  }
  expect(await contentOf(mine)).toEqual(before);
});

test("no route finds what another tenant's ids name, and nothing of that tenant changes", async () => {
  const { mine, theirs, send } = await startTenants();
  const before = [theirs.dump(), await theirs.journal(), theirs.runs()];
  let tried = 0;
  for (const name of NAMES) {
    const route = ROUTES[name];
    const [own, foreign] = [route?.request(mine.ids), route?.request(theirs.ids)];
    // Where the request names nothing by id, it is about the tenant's own.
    if (foreign === undefined || JSON.stringify(own) === JSON.stringify(foreign)) continue;
    tried += 1;
    const answer = await send({ method: methodOf(name), ...foreign }, mine.token("service"));
    const found = (await answer.json()) as Found;
    const statuses = found.results?.map(({ status }) => status) ?? [answer.status];
    expect(
      statuses.filter((status) => status < 400 || status >= 500),
      `${name}: ${JSON.stringify(found)}`,
    ).toEqual([]);
  }
  expect(tried).toBeGreaterThan(10);
  expect([theirs.dump(), await theirs.journal(), theirs.runs()]).toEqual(before);
});

/** Its sessions and its journal. Now that the tenant is open, a worker leaves its own marks elsewhere. */
async function contentOf(server: AttackedServer): Promise<readonly unknown[]> {
  return [server.dump()["documents"], await server.journal(), server.runs()];
}

function methodOf(name: string): string {
  return name.split(" ")[0] ?? "";
}
