import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { edges, isTest, placeOf, violations } from "./imports.ts";
import { LAYERS, MEMBERED, PACKAGES } from "./layers.ts";
import { ROOT, readManifest, readSource, readSources } from "./repository.ts";
import { isIdentifier, nodesOf, type SourceFile } from "./syntax.ts";

const files = readSources();
const judged = files.filter((file) => !isTest(file.path));

describe("the source tree", () => {
  test("keeps to the layers", () => {
    expect(violations(files)).toEqual([]);
  });

  test("is seen: every folder of src has a row and files that were judged", () => {
    const folders = readdirSync(`${ROOT}src`, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
      .map((entry) => placeOf(`${entry.parentPath.slice(ROOT.length)}/${entry.name}`).layer);
    const seen = new Set(judged.map((file) => placeOf(file.path).layer));
    expect([...seen].filter((layer) => layer !== "web").toSorted()).toEqual([...new Set(folders)].toSorted());
    expect([...seen]).toEqual(expect.arrayContaining(["protocol", "engine", "stores"]));
  });

  test("is seen: the imports that hold the layers together were read", () => {
    const seen = edges(files).map(({ from, to }) => `${from} -> ${to}`);
    expect(seen).toEqual(
      expect.arrayContaining(["engine -> protocol", "stores -> engine", "stores -> protocol"]),
    );
  });

  test("has no folder with more than 20 files, tests aside", () => {
    const sizes = new Map<string, number>();
    for (const { path } of judged) {
      const folder = path.slice(0, path.lastIndexOf("/"));
      sizes.set(folder, (sizes.get(folder) ?? 0) + 1);
    }
    expect([...sizes].filter(([, size]) => size > 20)).toEqual([]);
  });

  test("has a header at every front door that says what is decided behind it", () => {
    const doors = judged.filter(({ path }) => /^src\/.+\/index\.ts$/.test(path));
    expect(doors.filter(({ text }) => !text.startsWith("/**\n")).map(({ path }) => path)).toEqual([]);
  });

  test("has a ledger of fewer than 30 members", () => {
    const nodes = nodesOf(readSource("src/engine/ledger/ledger.ts"));
    const ledger = nodes.find(
      ({ type, id }) => type === "TSInterfaceDeclaration" && isIdentifier(id, "Ledger"),
    );
    const { body = [] } = (ledger?.["body"] ?? {}) as { readonly body?: readonly unknown[] };
    expect(body.length).toBeGreaterThan(0);
    expect(body.length).toBeLessThan(30);
  });

  test("imports only packages that are installed with it, or that it names as optional peers", () => {
    const { dependencies, peerDependencies, peerDependenciesMeta } = readManifest();
    for (const name of Object.keys(PACKAGES)) {
      const optional =
        peerDependencies?.[name] !== undefined && peerDependenciesMeta?.[name]?.optional === true;
      expect(dependencies?.[name] !== undefined || optional, `${name} in package.json`).toBe(true);
    }
    expect(Object.keys(PACKAGES)).toEqual(expect.arrayContaining(Object.keys(dependencies ?? {})));
  });
});

describe("the table", () => {
  test("names only layers that it has rows for", () => {
    const named = Object.values(LAYERS).flatMap(({ imports, lazily = [], types = [] }) => [
      ...imports,
      ...lazily,
      ...types,
    ]);
    const folders = named.filter((name) => !name.startsWith("countersign/"));
    for (const name of folders) {
      const row = name.startsWith("src/") ? name : (name.split("/")[0] ?? name);
      expect(Object.keys(LAYERS), name).toContain(row);
    }
    expect(Object.keys(LAYERS)).toEqual(expect.arrayContaining(Object.keys(MEMBERED)));
  });

  test("has no circle: no layer reaches itself", () => {
    const reach = (layer: string, path: readonly string[]): void => {
      expect(path).not.toContain(layer);
      for (const next of LAYERS[layer]?.imports ?? []) {
        reach(next, [...path, layer]);
      }
    };
    for (const layer of Object.keys(LAYERS)) {
      reach(layer, []);
    }
  });
});

/** A tree in which everything is where it may be; each case below adds one file to it. */
const SOUND: { readonly [path: string]: string } = {
  "src/protocol/index.ts": `export { a } from "./a.ts";`,
  "src/protocol/a.ts": `export const a = 1; // Date.now() in a comment, "setTimeout" in a string`,
  "src/engine/index.ts": `export { b } from "./b.ts"; export type { L } from "./ledger/index.ts";`,
  "src/engine/b.ts": `import { createHash } from "node:crypto"; import { a } from "../protocol/index.ts"; export const b = [a, createHash, new Date(0)];`,
  "src/engine/common/clock.ts": `export const clock = { now: () => Date.now(), after: setTimeout };`,
  "src/engine/common/index.ts": `export { clock } from "./clock.ts";`,
  "src/engine/timer.ts": `import { clock } from "./common/index.ts"; export const t = (x: { setTimeout(): void }) => x.setTimeout() ?? clock;`,
  "src/engine/ledger/index.ts": `export type { L } from "./ledger.ts"; export { draft } from "./draft.ts";`,
  "src/engine/ledger/ledger.ts": `import type { V } from "../calls/index.ts"; export interface L { readonly x: V }`,
  "src/engine/ledger/draft.ts": `import { clock } from "../common/index.ts"; export const draft = clock;`,
  "src/engine/calls/index.ts": `export type { V } from "./run.ts";`,
  "src/engine/calls/run.ts": `import { draft } from "../ledger/index.ts"; import { t } from "../timer.ts"; export type V = typeof draft | typeof t;`,
  "src/engine/ledger/ledger.contract.ts": `export const cases = [];`,
  "src/engine/b.test.ts": `import { test } from "vitest"; import { s } from "../stores/sqlite/ledger.ts"; test("", () => s(setTimeout));`,
  "src/runtime/index.ts": `export const runner = 1;`,
  "src/stores/index.ts": `export const open = () => import("./sqlite/index.ts");`,
  "src/stores/sql/rows.ts": `export const rows = 1;`,
  "src/stores/sqlite/index.ts": `export { s } from "./ledger.ts";`,
  "src/stores/sqlite/ledger.ts": `import { DatabaseSync } from "node:sqlite"; import type { L } from "../../engine/index.ts"; import { rows } from "../sql/rows.ts"; export const s = (x: unknown): L => x as L & typeof rows & DatabaseSync;`,
  "src/stores/postgres/index.ts": `export const p = 1;`,
  "src/models/scripted/index.ts": `export const m = 1;`,
  "src/cli/main.ts": `import { s } from "../stores/sqlite/index.ts"; export const main = async (name: string) => [s, await import(name)];`,
  "src/index.ts": `export { a } from "./protocol/index.ts"; export { open } from "./stores/index.ts"; export const x = () => import("./stores/sqlite/index.ts");`,
  "src/testing.ts": `export { cases } from "./engine/ledger/ledger.contract.ts"; export { m } from "./models/scripted/index.ts";`,
  "web/src/main.tsx": `import { createRoot } from "react-dom/client"; import type { A } from "../../src/protocol/index.ts"; import { c } from "countersign/client"; export const w = <b title={c as A}>{createRoot}</b>;`,
};

function judge(planted: { readonly [path: string]: string }): string[] {
  const tree: SourceFile[] = Object.entries({ ...SOUND, ...planted }).map(([path, text]) => ({ path, text }));
  return violations(tree);
}

describe("the judge", () => {
  test("passes a sound tree", () => {
    expect(judge({})).toEqual([]);
  });

  test.each([
    ["a package in protocol", "src/protocol/x.ts", `import { z } from "zod";`, "belongs to http"],
    [
      "a built-in in protocol",
      "src/protocol/x.ts",
      `import { createHash } from "node:crypto";`,
      "node:crypto",
    ],
    ["a type of a built-in in protocol", "src/protocol/x.ts", `import type { X } from "node:fs";`, "node:fs"],
    [
      "a type by import() in protocol",
      "src/protocol/x.ts",
      `export type X = import("node:fs").Stats;`,
      "node:fs",
    ],
    ["a global of Node.js in protocol", "src/protocol/x.ts", `export const x = Buffer.from("");`, "Buffer"],
    [
      "protocol importing upwards",
      "src/protocol/x.ts",
      `import { b } from "../engine/index.ts";`,
      "may not import engine",
    ],
    [
      "an upward type",
      "src/protocol/x.ts",
      `import type { L } from "../engine/index.ts";`,
      "may not import engine",
    ],
    [
      "an upward re-export",
      "src/engine/x.ts",
      `export * from "../stores/index.ts";`,
      "may not import stores",
    ],
    [
      "an upward import()",
      "src/engine/x.ts",
      `await import("../stores/sqlite/index.ts");`,
      "may not import stores/sqlite",
    ],
    ["an upward require()", "src/engine/x.ts", `require("../stores/index.ts");`, "may not import stores"],
    ["a built-in that engine may not have", "src/engine/x.ts", `import "node:fs";`, "node:fs"],
    [
      "a package of another folder",
      "src/stores/x.ts",
      `import "@cfworker/json-schema";`,
      "belongs to engine",
    ],
    ["an unlisted package", "src/http/x.ts", `import { Koa } from "koa/tiny";`, "package koa"],
    [
      "its own package by name",
      "src/cli/x.ts",
      `import { Agent } from "countersign";`,
      "package countersign",
    ],
    [
      "a file behind the door",
      "src/engine/x.ts",
      `import { a } from "../protocol/a.ts";`,
      "past the front door",
    ],
    ["its own front door", "src/engine/x.ts", `import { b } from "./index.ts";`, "its own front door"],
    [
      "a member's own front door",
      "src/stores/sqlite/x.ts",
      `import { s } from "./index.ts";`,
      "its own front door",
    ],
    [
      "a parent's front door",
      "src/stores/sqlite/x.ts",
      `import { open } from "../index.ts";`,
      "its own front door",
    ],
    [
      "one store in another",
      "src/stores/sqlite/x.ts",
      `import { p } from "../postgres/index.ts";`,
      "may not import stores/postgres",
    ],
    ["a member not lazily", "src/stores/x.ts", `import { s } from "./sqlite/index.ts";`, "lazily"],
    [
      "a file behind a member's door",
      "src/cli/x.ts",
      `import { s } from "../stores/sqlite/ledger.ts";`,
      "past the front door",
    ],
    [
      "a store in runtime",
      "src/runtime/x.ts",
      `import { open } from "../stores/index.ts";`,
      "may not import stores",
    ],
    [
      "models in mcp",
      "src/mcp/x.ts",
      `import { m } from "../models/scripted/index.ts";`,
      "may not import models/scripted",
    ],
    ["the command line", "src/http/x.ts", `import { main } from "../cli/main.ts";`, "may not import cli"],
    ["a computed import", "src/engine/x.ts", `export const x = (y: string) => import(y);`, "computed"],
    ["a file that is not there", "src/engine/x.ts", `import "./gone.ts";`, "no source file"],
    ["a built file's name", "src/engine/x.ts", `import "./b.js";`, "no source file"],
    [
      "a store at the root, not lazily",
      "src/index.ts",
      `export { s } from "./stores/sqlite/index.ts";`,
      "lazily",
    ],
    [
      "a store by inline types at the root",
      "src/index.ts",
      `import { type s } from "./stores/sqlite/index.ts";`,
      "lazily",
    ],
    [
      "a model at the root",
      "src/index.ts",
      `export const x = () => import("./models/scripted/index.ts");`,
      "may not import",
    ],
    [
      "a file that is no contract in testing",
      "src/testing.ts",
      `export { b } from "./engine/b.ts";`,
      "past the front door",
    ],
    [
      "a file behind an inner door",
      "src/engine/calls/x.ts",
      `import { draft } from "../ledger/draft.ts";`,
      "past the front door of engine/ledger",
    ],
    [
      "a type behind an inner door",
      "src/engine/x.ts",
      `import type { L } from "./ledger/ledger.ts";`,
      "past the front door of engine/ledger",
    ],
    [
      "an inner folder's own front door",
      "src/engine/calls/x.ts",
      `import type { V } from "./index.ts";`,
      "its own front door",
    ],
    [
      "the outer front door in an inner folder",
      "src/engine/calls/x.ts",
      `import { b } from "../index.ts";`,
      "its own front door",
    ],
    [
      "a value of a higher inner folder",
      "src/engine/ledger/x.ts",
      `import { V } from "../calls/index.ts";`,
      "engine/ledger may import only types from engine/calls",
    ],
    [
      "inline types of a higher inner folder",
      "src/engine/ledger/x.ts",
      `import { type V } from "../calls/index.ts";`,
      "engine/ledger may import only types from engine/calls",
    ],
    ["an inner folder without a place", "src/engine/misc/x.ts", `export {};`, "no place"],
    ["a folder without a row", "src/utils/x.ts", `export {};`, "no row"],
    ["a file without a row", "src/helper.ts", `export {};`, "no row"],
    ["values in the web", "web/src/x.ts", `import { a } from "../../src/protocol/index.ts";`, "only types"],
    [
      "the engine in the web",
      "web/src/x.ts",
      `import type { L } from "../../src/engine/index.ts";`,
      "may not import engine",
    ],
    [
      "the root in the web",
      "web/src/x.ts",
      `import type { L } from "countersign";`,
      "may not import countersign",
    ],
    ["Date.now in engine", "src/engine/x.ts", `export const x = Date.now();`, "Date.now"],
    ["new Date() in engine", "src/engine/x.ts", `export const x = new Date();`, "new Date()"],
    ["Date() in protocol", "src/protocol/x.ts", `export const x = Date();`, "new Date()"],
    ["Math.random in protocol", "src/protocol/x.ts", `export const x = Math.random();`, "Math.random"],
    ["setTimeout in engine", "src/engine/x.ts", `setTimeout(() => {}, 1);`, "setTimeout"],
    ["setTimeout as a value", "src/engine/x.ts", `export const x = { setTimeout };`, "setTimeout"],
    ["globalThis.setInterval", "src/engine/x.ts", `globalThis.setInterval(() => {}, 1);`, "setInterval"],
    ["performance in engine", "src/engine/x.ts", `export const x = performance.now();`, "performance"],
  ])("finds %s", (_what, path, text, expected) => {
    const found = judge({ [path]: text });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(new RegExp(`^${path}: `));
    expect(found[0]).toContain(expected);
  });

  test("refuses to judge a file that does not parse", () => {
    expect(() => judge({ "src/engine/x.ts": "import from from from" })).toThrow("src/engine/x.ts");
  });
});
