import { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { CountersignError } from "../../protocol/index.ts";
import type { HttpEnv } from "../env.ts";
import type { Site } from "../site.ts";
import { type PageFile, readPageFiles } from "./page-files.ts";
import { PAGE_HEADERS } from "./page-headers.ts";
import { ROOT_FILES } from "./root-files.ts";

/** The inbox: the built page, with its security headers. Its files are read once, at the first request. */
export function webRoutes(_site: Site): OpenAPIHono<HttpEnv> {
  let files: ReadonlyMap<string, PageFile> | undefined;
  const find = (path: string): PageFile => {
    files ??= readPageFiles();
    const file = files?.get(path);
    if (file !== undefined) return file;
    const message =
      files === undefined
        ? "The inbox has not been built: run `npm run build`, then try again."
        : `The inbox has no file ${path}; reload the page.`;
    throw new CountersignError("unknown-route", message);
  };
  const app = new OpenAPIHono<HttpEnv>();
  app.get("/", (context) => {
    // The page uses relative file paths, so its own URL must end with a slash.
    const { pathname } = new URL(context.req.url);
    if (!pathname.endsWith("/")) return context.redirect(`${pathname.slice(pathname.lastIndexOf("/") + 1)}/`);
    return send(context, find("index.html"), "no-cache");
  });
  for (const name of ROOT_FILES) app.get(`/${name}`, (context) => send(context, find(name), "no-cache"));
  app.get("/assets/:name", (context) =>
    send(context, find(`assets/${context.req.param("name")}`), "public, max-age=31536000, immutable"),
  );
  return app;
}

function send(context: Context<HttpEnv>, file: PageFile, caching: string): Response {
  const headers = {
    ...PAGE_HEADERS,
    "cache-control": caching,
    "content-type": file.type,
    etag: file.etag,
    vary: "accept-encoding",
  };
  if (context.req.header("if-none-match") === file.etag) return new Response(null, { status: 304, headers });
  const takesGzip = context.env.takesEncoded && /\bgzip\b/.test(context.req.header("accept-encoding") ?? "");
  if (!takesGzip) return new Response(file.body, { headers });
  return new Response(file.gzipped, { headers: { ...headers, "content-encoding": "gzip" } });
}
