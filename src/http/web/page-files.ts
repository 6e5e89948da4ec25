import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

/** A file of the built page, ready to be sent. */
export interface PageFile {
  readonly type: string;
  readonly etag: string;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly gzipped: Uint8Array<ArrayBuffer>;
}

const TYPES: { readonly [extension: string]: string } = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".webmanifest": "application/manifest+json",
};

/** Where the page is: beside this module in the package, in `dist` of a checkout. */
const FOLDERS: readonly URL[] = [
  new URL("../../web/", import.meta.url),
  new URL("../../../dist/web/", import.meta.url),
];

/** The built page by path, as in `assets/index-x.js`; undefined where it was never built. */
export function readPageFiles(): ReadonlyMap<string, PageFile> | undefined {
  const folder = FOLDERS.map((url) => fileURLToPath(url)).find((path) => existsSync(`${path}index.html`));
  if (folder === undefined) return undefined;
  const paths = globSync("**/*.*", { cwd: folder }).filter((path) => TYPES[extname(path)] !== undefined);
  return new Map(paths.map((path) => [path.replaceAll("\\", "/"), readPageFile(`${folder}${path}`)]));
}

function readPageFile(path: string): PageFile {
  const body = new Uint8Array(readFileSync(path));
  return {
    type: TYPES[extname(path)] ?? "application/octet-stream",
    etag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`,
    body,
    gzipped: new Uint8Array(gzipSync(body, { level: 9 })),
  };
}
