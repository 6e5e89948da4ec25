import { worker } from "./worker.ts";

const CACHE = "countersign-offline";
const PAGE = "./offline.html";
const FILES = /(?:src|href)="(\.\/assets\/[^"]+)"/g;

/** Keeps the page that is shown without a connection, and the files that it names. */
export async function keepOffline(): Promise<void> {
  const cache = await caches.open(CACHE);
  for (const old of await cache.keys()) await cache.delete(old);
  const page = await fetch(placeOf(PAGE), { cache: "no-cache" });
  const html = await page.clone().text();
  await cache.put(placeOf(PAGE), page);
  // Each once: a file that is named twice would be refused.
  const files = new Set(Array.from(html.matchAll(FILES), ([, path = ""]) => placeOf(path)));
  await cache.addAll([...files]);
}

/** The answer to a page that is opened, or to a file of the offline page; undefined: this is not its business. */
export function offlineAnswer(request: Request): Promise<Response> | undefined {
  const isPage = request.mode === "navigate";
  const isFile = request.method === "GET" && request.url.startsWith(placeOf("./assets/"));
  if (!isPage && !isFile) return undefined;
  return fetch(request).catch(async () => {
    const kept = await caches.match(isPage ? placeOf(PAGE) : request.url);
    return kept ?? Response.error();
  });
}

function placeOf(path: string): string {
  return new URL(path, worker.registration.scope).href;
}
