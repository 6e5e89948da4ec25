import { expect, test } from "vitest";
import { type From, type OriginOptions, originOf } from "./origin.ts";

const OWN = "http://127.0.0.1:8000";
const OPTIONS: OriginOptions = { publicUrl: undefined, allowOrigins: ["https://ui.test"] };

/** What a browser, or whoever claims to be one, says of where a request comes from. */
interface Said {
  readonly method: string;
  readonly site?: string | undefined;
  readonly mode?: string | undefined;
  readonly dest?: string | undefined;
  readonly origin?: string | undefined;
  readonly referer?: string | undefined;
}

function from({ method, site, mode, dest, origin, referer }: Said): From {
  const said = {
    "sec-fetch-site": site,
    "sec-fetch-mode": mode,
    "sec-fetch-dest": dest,
    origin,
    referer,
  };
  const headers = Object.entries(said).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const request = new Request(`${OWN}/v1/decisions`, { method, headers: [["host", "127.0.0.1:8000"]] });
  // A page may not set these; whoever is no page may.
  for (const [name, value] of headers) request.headers.set(name, value);
  return originOf(request, OPTIONS);
}

test.each<[string, Said, From]>([
  ["curl writes", { method: "POST" }, "own"],
  ["Node's fetch writes", { method: "POST", mode: "cors" }, "own"],
  ["our page writes", { method: "POST", site: "same-origin", mode: "cors", origin: OWN }, "own"],
  ["our page reads", { method: "GET", site: "same-origin", mode: "cors", referer: `${OWN}/` }, "own"],
  ["an address is typed", { method: "GET", site: "none", mode: "navigate", dest: "document" }, "own"],
  ["a link is followed", { method: "GET", site: "cross-site", mode: "navigate", dest: "document" }, "own"],
  [
    "a link from a web mail in a browser that says little",
    { method: "GET", referer: "https://mail.test/" },
    "own",
  ],
  ["an allowed page writes", { method: "POST", site: "cross-site", origin: "https://ui.test" }, "allowed"],
  ["a form elsewhere hides its origin", { method: "POST", site: "cross-site", mode: "navigate" }, "foreign"],
  ["a form on another port hides it", { method: "POST", site: "same-site", mode: "navigate" }, "foreign"],
  ["a write that nobody navigates to", { method: "POST", site: "none", mode: "navigate" }, "foreign"],
  ["a frame", { method: "GET", site: "cross-site", mode: "navigate", dest: "iframe" }, "foreign"],
  ["an embedded object", { method: "GET", site: "same-site", mode: "navigate", dest: "object" }, "foreign"],
  ["an image", { method: "GET", site: "same-site", mode: "no-cors", dest: "image" }, "foreign"],
  ["a site of no kind that we know", { method: "GET", site: "friendly", mode: "cors" }, "foreign"],
  ["two sites at once", { method: "POST", site: "same-origin, cross-site" }, "foreign"],
  ["two origins at once", { method: "POST", origin: `${OWN}, https://evil.test` }, "foreign"],
  ["our origin from another site", { method: "POST", site: "cross-site", origin: OWN }, "foreign"],
  ["our origin from another port", { method: "GET", site: "same-site", origin: OWN }, "foreign"],
  ["an origin with a path", { method: "POST", origin: `${OWN}/evil` }, "foreign"],
  ["an origin with a name in front", { method: "POST", origin: "http://evil@127.0.0.1:8000" }, "foreign"],
  ["an origin of no web", { method: "POST", origin: "evil://127.0.0.1:8000" }, "foreign"],
  ["no origin, but a page elsewhere", { method: "POST", referer: "https://evil.test/a" }, "foreign"],
  ["no origin, and no page that can be read", { method: "POST", referer: "about:blank" }, "foreign"],
  [
    "our origin, and a page elsewhere",
    { method: "POST", origin: OWN, referer: "https://evil.test/" },
    "foreign",
  ],
  [
    "a method that is not spelled as usual",
    { method: "patch", site: "cross-site", mode: "navigate" },
    "foreign",
  ],
  ["a method of another protocol", { method: "PROPFIND", site: "cross-site", mode: "navigate" }, "foreign"],
])("%s", (_, said, expected) => {
  expect(from(said)).toBe(expected);
});

const SITES = [undefined, "same-origin", "none", "same-site", "cross-site", "friendly"] as const;
const MODES = [undefined, "navigate", "cors", "no-cors", "same-origin", "websocket"] as const;
const DESTS = [undefined, "document", "iframe", "empty"] as const;
const ORIGINS = [undefined, OWN, "http://127.0.0.1:3000", "https://evil.test", "null"] as const;
const REFERERS = [undefined, `${OWN}/`, "http://127.0.0.1:3000/", "https://evil.test/"] as const;
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "patch", "PROPFIND"] as const;

function everything(): readonly Required<Said>[] {
  const all: Required<Said>[] = [];
  for (const method of METHODS)
    for (const site of SITES)
      for (const mode of MODES)
        for (const dest of DESTS)
          for (const origin of ORIGINS)
            for (const referer of REFERERS) all.push({ method, site, mode, dest, origin, referer });
  return all;
}

const isRead = ({ method }: Said): boolean => method === "GET" || method === "HEAD";

test("a write is ours only if nothing that is said of it speaks against that", () => {
  const wrong = everything().filter((said) => {
    const { site, origin, referer } = said;
    const speaksAgainst =
      (site !== undefined && site !== "same-origin") ||
      (origin !== undefined && origin !== OWN) ||
      (referer !== undefined && referer !== `${OWN}/`);
    return !isRead(said) && (from(said) === "own") === speaksAgainst;
  });
  expect(wrong).toEqual([]);
});

test("a read that a page elsewhere begins is ours only as a followed link", () => {
  const wrong = everything().filter((said) => {
    const { site, mode, dest, origin } = said;
    const isElsewhere =
      (site !== undefined && site !== "same-origin" && site !== "none") ||
      (origin !== undefined && origin !== OWN);
    const isLink = mode === "navigate" && (dest === undefined || dest === "document") && origin === undefined;
    return isRead(said) && isElsewhere && !isLink && from(said) === "own";
  });
  expect(wrong).toEqual([]);
});
