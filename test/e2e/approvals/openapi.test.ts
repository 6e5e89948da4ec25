import { expect, test } from "vitest";
import { GROUPS } from "../../../src/http/app.ts";
import { Site } from "../../../src/http/site.ts";
import { isJsonObject, type JsonObject } from "../../../src/protocol/index.ts";
import { startServed } from "../../support/http/served.ts";
import { useResources } from "../../support/resources.ts";
import { startApprovalsServer } from "./approvals-server.ts";

const resources = useResources();

// The pages of the inbox are files, not an API; and of what user interfaces ask for, some is never there.
const NOT_DESCRIBED =
  /^\/$|^\/assets\/|^\/(sw\.js|manifest\.webmanifest|offline\.html)$|\/artifacts(\/|$)|\/debug\/trace\/|\/eval_(sets|results|metrics)$/;

async function documentOf(): Promise<JsonObject> {
  const server = await startApprovalsServer(resources);
  const { status, json } = await server.ask("ana", "GET", "/openapi.json");
  expect(status).toBe(200);
  return json;
}

test("the document is OpenAPI 3.1, and everything that it refers to is in it", async () => {
  const document = await documentOf();
  expect(document["openapi"]).toBe("3.1.0");
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(
    ([, path = ""]) => path,
  );
  expect(references.length).toBeGreaterThan(10);
  for (const path of new Set(references)) {
    const target = path
      .split("/")
      .reduce<unknown>((at, name) => (isJsonObject(at) ? at[name] : undefined), document);
    expect({ path, found: isJsonObject(target) }).toEqual({ path, found: true });
  }
});

test("every operation has a summary, a tag, its parameters and an answer, and no two have one name", async () => {
  const paths = (await documentOf())["paths"] as JsonObject;
  const names = new Set<unknown>();
  for (const [path, methods] of Object.entries(paths)) {
    const named = [...path.matchAll(/\{(.+?)\}/g)].map(([, name]) => name);
    for (const [method, operation] of Object.entries(methods as JsonObject)) {
      const {
        operationId,
        summary,
        tags,
        parameters = [],
        responses,
      } = operation as Record<string, JsonObject>;
      expect(operationId).toMatch(/^[a-z][A-Za-z\d]+$/);
      expect(names.has(operationId)).toBe(false);
      names.add(operationId);
      const inPath = (parameters as unknown as JsonObject[])
        .filter((one) => one["in"] === "path")
        .map((one) => one["name"]);
      expect({ path, method, inPath }).toEqual({ path, method, inPath: named });
      expect(typeof summary).toBe("string");
      expect(tags).toHaveLength(1);
      expect(Object.keys(responses ?? {}).some((status) => status.startsWith("2"))).toBe(true);
    }
  }
});

test("every route that is mounted is described, with its method", async () => {
  const server = await startApprovalsServer(resources);
  const { json } = await server.ask("ana", "GET", "/openapi.json");
  const described = new Set(
    Object.entries(json["paths"] as JsonObject).flatMap(([path, methods]) =>
      Object.keys(methods as JsonObject).map((method) => `${method.toUpperCase()} ${path}`),
    ),
  );
  const site = new Site({ apps: { bank: server.runner } });
  const mounted = Object.values(GROUPS)
    .flatMap((routesOf) => routesOf(site).routes)
    .filter(({ method, path }) => method !== "ALL" && !NOT_DESCRIBED.test(path))
    .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)(?:\{[^}]*\})?/g, "{$1}")}`);
  expect(mounted.length).toBeGreaterThan(15);
  expect([...new Set(mounted)].filter((route) => !described.has(route))).toEqual([]);
});

test("with a login the document says how callers prove who they are, and where nobody has to", async () => {
  const served = await startServed(resources, { mode: "tokens" });
  const document = (await (await served.send("/openapi.json")).json()) as {
    readonly security: unknown;
    readonly components: { readonly securitySchemes: object };
    readonly paths: Record<string, Record<string, { readonly security?: unknown }>>;
  };
  expect(document.security).toEqual([{ bearer: [] }, { cookie: [], proof: [] }]);
  expect(document.components.securitySchemes).toMatchObject({
    bearer: { type: "http", scheme: "bearer" },
    cookie: { type: "apiKey", in: "cookie", name: "countersign" },
    proof: { type: "apiKey", in: "header", name: "countersign-proof" },
  });
  expect(document.paths["/auth/login"]?.["post"]?.security).toEqual([]);
  expect(document.paths["/healthz"]?.["get"]?.security).toEqual([]);
  expect(document.paths["/run"]?.["post"]?.security).toBeUndefined();
});

test("a body must be sent wherever an empty one would be refused", async () => {
  const paths = (await documentOf())["paths"] as Record<string, Record<string, JsonObject>>;
  const required = (path: string): unknown =>
    (paths[path]?.["post"]?.["requestBody"] as JsonObject | undefined)?.["required"];
  expect(required("/v1/calls")).toBe(true);
  expect(required("/v1/calls/{key}/result")).toBe(true);
  expect(required("/v1/confirmations/{id}/decision")).toBe(true);
  expect(required("/agui/{app}")).toBe(true);
  expect(required("/v1/calls/{key}/claim")).toBe(false);
});
