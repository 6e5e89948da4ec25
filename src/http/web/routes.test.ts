import { gunzipSync } from "node:zlib";
import { afterEach, beforeAll, expect, test } from "vitest";
import { ensureWebBuilt } from "../../../scripts/build-web.ts";
import { Agent, Runner } from "../../index.ts";
import { scripted } from "../../models/scripted/index.ts";
import { createApp } from "../app.ts";

beforeAll(() => ensureWebBuilt());

const runners: Runner[] = [];
afterEach(async () => {
  for (const runner of runners.splice(0)) await runner.close();
});

function served(basePath?: string): (path: string, headers?: Record<string, string>) => Promise<Response> {
  const agent = new Agent({ name: "desk", model: scripted(() => "Hello."), instruction: "" });
  const runner = new Runner({ agent, ledger: "memory:" });
  runners.push(runner);
  const app = createApp({ apps: { desk: runner }, ...(basePath === undefined ? {} : { basePath }) });
  return (path, headers = {}) =>
    app.fetch(new Request(`http://127.0.0.1:8000${path}`, { headers }), { takesEncoded: true });
}

test("the page and its files come with their headers, and are kept as long as they may be", async () => {
  const get = served();
  const page = await get("/");
  expect(page.status).toBe(200);
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(page.headers.get("cache-control")).toBe("no-cache");
  expect(page.headers.get("content-security-policy")).toContain("script-src 'self'");
  const html = await page.text();
  const [, script = ""] = /src="\.\/(assets\/[^"]+\.js)"/.exec(html) ?? [];
  const plain = await get(`/${script}`);
  expect(plain.headers.get("cache-control")).toContain("immutable");
  const zipped = await get(`/${script}`, { "accept-encoding": "gzip, br" });
  expect(zipped.headers.get("content-encoding")).toBe("gzip");
  expect(gunzipSync(new Uint8Array(await zipped.arrayBuffer())).toString()).toBe(await plain.text());
  const again = await get("/", { "if-none-match": page.headers.get("etag") ?? "" });
  expect(again.status).toBe(304);
});

test("mounted elsewhere, the page's address ends with a slash, so that it finds its files", async () => {
  const get = served("/approvals");
  const bare = await get("/approvals");
  expect(bare.status).toBe(302);
  expect(new URL(bare.headers.get("location") ?? "", "http://127.0.0.1:8000/approvals").pathname).toBe(
    "/approvals/",
  );
  expect((await get("/approvals/")).status).toBe(200);
});

test("what is not a file of the page is not found, wherever it points", async () => {
  const get = served();
  for (const path of ["/assets/none.js", "/assets/..%2Findex.html", "/assets/%2e%2e/%2e%2e/package.json"]) {
    const answer = await get(path);
    expect(answer.status, path).toBe(404);
    expect(answer.headers.get("content-type")).toContain("application/problem+json");
  }
});

test("the first load of the inbox stays small", async () => {
  const get = served();
  const html = await (await get("/")).text();
  const files = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, path]) => path ?? "");
  let bytes = 0;
  for (const path of ["", ...files]) {
    const answer = await get(`/${path}`, { "accept-encoding": "gzip" });
    bytes += (await answer.arrayBuffer()).byteLength;
  }
  expect(files.length).toBeGreaterThan(1);
  expect(bytes).toBeLessThan(150_000);
});
