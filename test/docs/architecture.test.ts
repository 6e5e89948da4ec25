import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PAGE = readFileSync(join(ROOT, "docs/ARCHITECTURE.md"), "utf8");
const MOST_HOPS = 25;

/** `name` ([text](../path)), anywhere on the page. */
const NAMED = /`(\w+)` \(\[[^\]]*\]\(\.\.\/([^)]+\.tsx?)\)/g;

function section(title: string): string {
  const [, rest = ""] = PAGE.split(`\n## ${title}\n`);
  return rest.split("\n## ")[0] ?? "";
}

/** Is it declared in this file, exported or not? */
function declares(text: string, name: string): boolean {
  const declared = String.raw`^(export )?(default )?(abstract )?(async )?(function\*?|class|interface|type|const|let) ${name}\b`;
  return new RegExp(declared, "m").test(text);
}

test.each([...PAGE.matchAll(NAMED)].map(([, name = "", path = ""]) => [name, path]))(
  "%s is in %s",
  (name, path) => {
    expect(declares(readFileSync(join(ROOT, path), "utf8"), name)).toBe(true);
  },
);

describe.each(["The path of a message", "The path of a decision"])("%s", (title) => {
  const hops = section(title)
    .split("\n")
    .filter((line) => /^\d+\. /.test(line));

  test(`has at most ${MOST_HOPS} hops, in order`, () => {
    expect(hops.length).toBeGreaterThan(10);
    expect(hops.length).toBeLessThanOrEqual(MOST_HOPS);
    expect(hops.map((hop) => Number.parseInt(hop, 10))).toEqual(hops.map((_, place) => place + 1));
  });

  test.each(hops)("names a function, and its folder is where the file is: %s", (hop) => {
    const [, folder = "?", path = ""] = /^\d+\. `\w+` \(\[([\w/-]+)\]\(\.\.\/([^)]+\.ts)\)/.exec(hop) ?? [];
    expect(path.slice(0, path.lastIndexOf("/"))).toBe(`src/${folder}`);
  });
});

describe("the tree", () => {
  const listed = [...section("The tree").matchAll(/^\| `([\w/-]+)`/gm)].map(([, path = ""]) => path);

  test("has every folder of src, and of those that are made of folders each of them", () => {
    const folders = globSync("src/*/", { cwd: ROOT }).map((path) => path.replace(/\/$/, ""));
    const withDoors = globSync("src/{engine,runtime,mcp,a2a}/*/index.ts", { cwd: ROOT });
    const inner = withDoors.map((path) => path.slice(0, path.lastIndexOf("/")));
    const missing = [...folders, ...inner].filter((path) => !listed.some((one) => one === path));
    const covered = missing.filter((path) => !listed.some((one) => one.startsWith(`${path}/`)));
    expect(covered).toEqual([]);
  });

  test("has no folder that is not there", () => {
    expect(listed.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

test("each guarantee has functions that enforce it and tests that show it", () => {
  const rows = [...PAGE.matchAll(/^\| (G\d) [^|]*\|(?<where>[^|]*)\|(?<tests>[^|]*)\|$/gm)];
  expect(rows.map(([, id]) => id)).toEqual(["G1", "G2", "G3", "G4", "G5", "G6", "G7"]);
  for (const { groups } of rows) {
    expect(groups?.["where"]?.match(NAMED)?.length).toBeGreaterThan(0);
    expect(groups?.["tests"]).toMatch(/\]\(\.\.\/(test|src)\//);
  }
});
