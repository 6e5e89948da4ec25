import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "@hono/zod-openapi";
import { LOGIN_COOKIE } from "./auth/login-routes.ts";
import { PROOF_HEADER } from "./auth/proof.ts";
import type { HttpEnv } from "./env.ts";
import { isOpen } from "./guards/open-paths.ts";
import { serve } from "./operation.ts";
import type { Site } from "./site.ts";

const ABOUT =
  "The approval layer for AI agents: open confirmations, decisions and outcomes. Errors are " +
  "application/problem+json with a stable `code`; the ADK routes answer as the ADK server does.";

/** Serves the document that describes every route of this app. Call it after the last of them is mounted. */
export function serveOpenApi(app: OpenAPIHono<HttpEnv>, { auth, basePath }: Site): void {
  // Created at the first request, because most servers never get one.
  let text: string | undefined;
  serve(
    app,
    {
      method: "get",
      path: "/openapi.json",
      summary: "This document",
      tag: "about",
      answer: { description: "OpenAPI 3.1", schema: z.record(z.string(), z.unknown()) },
    },
    () => {
      text ??= JSON.stringify(
        withSecurity(
          withNames(
            app.getOpenAPI31Document({
              openapi: "3.1.0",
              info: { title: "Countersign", version: "1", description: ABOUT },
            }),
            basePath,
          ),
          { hasLogin: auth.login !== undefined, basePath },
        ),
      );
      return new Response(text, {
        headers: { "content-type": "application/json", "cache-control": "no-cache" },
      });
    },
  );
}

type Document = ReturnType<OpenAPIHono<HttpEnv>["getOpenAPI31Document"]>;

const SCHEMES = {
  bearer: {
    type: "http",
    scheme: "bearer",
    description: "An API token from `countersign tokens create`, or an access token from the OIDC issuer.",
  },
  cookie: {
    type: "apiKey",
    in: "cookie",
    name: LOGIN_COOKIE,
    description: "Set when a browser logs in. If the public URL is https, the name has the prefix `__Host-`.",
  },
  proof: {
    type: "apiKey",
    in: "header",
    name: PROOF_HEADER,
    description: "The `proof` from the login. The cookie is not valid without it.",
  },
} as const;

/** Gives every operation a name, because generators name the functions of a client after it. */
function withNames(document: Document, basePath: string): Document {
  const paths: Record<string, PathItem> = {};
  for (const [path, item] of Object.entries(document.paths ?? {}) as [string, PathItem][]) {
    const words = path.slice(basePath === "/" ? 0 : basePath.length).match(/[A-Za-z\d]+/g) ?? [];
    const name = words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join("");
    paths[path] = eachMethod(item, (operation, method) => ({
      operationId: `${method}${name}`,
      ...operation,
    }));
  }
  return { ...document, paths };
}

/** Describes the login, and which routes need none. A host's own login is not described. */
function withSecurity(
  document: Document,
  { hasLogin, basePath }: { readonly hasLogin: boolean; readonly basePath: string },
): Document {
  if (!hasLogin) return document;
  const base = basePath === "/" ? 0 : basePath.length;
  const paths: Record<string, PathItem> = {};
  for (const [path, item] of Object.entries(document.paths ?? {}) as [string, PathItem][]) {
    const isForAll = isOpen(path.slice(base) || "/");
    paths[path] = isForAll ? eachMethod(item, (operation) => ({ ...operation, security: [] })) : item;
  }
  return {
    ...document,
    paths,
    components: { ...document.components, securitySchemes: SCHEMES },
    security: [{ bearer: [] }, { cookie: [], proof: [] }],
  };
}

type PathItem = Readonly<Record<string, object>>;

function eachMethod(item: PathItem, change: (operation: object, method: string) => object): PathItem {
  const methods = Object.entries(item).map(([method, operation]) => [method, change(operation, method)]);
  return Object.fromEntries(methods) as PathItem;
}
