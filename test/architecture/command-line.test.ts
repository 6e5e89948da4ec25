import { globSync } from "node:fs";
import { posix } from "node:path";
import { expect, test } from "vitest";
import { isTest, placeOf } from "./imports.ts";
import { ROOT, readSource } from "./repository.ts";
import { importsOf, nodesOf } from "./syntax.ts";

const read = new Map<string, readonly string[]>();

/** What a file imports, except types, built-in modules and what it loads only later. */
function importedBy(path: string): readonly string[] {
  const known = read.get(path);
  if (known !== undefined) return known;
  const imports = importsOf(nodesOf(readSource(path))).filter(({ typeOnly, lazy }) => !typeOnly && !lazy);
  const found = imports
    .map(({ specifier = "" }) => (specifier.startsWith(".") ? resolve(path, specifier) : specifier))
    .filter((target) => !target.startsWith("node:"));
  read.set(path, found);
  return found;
}

/** Folders of `src`, and packages, that a file loads before it runs: what it imports, and what that imports. */
function loadedBy(entry: string): readonly string[] {
  const reached = new Set([entry]);
  for (const one of reached) {
    if (one.startsWith("src/")) for (const next of importedBy(one)) reached.add(next);
  }
  const layers = [...reached].map((one) => (one.startsWith("src/") ? placeOf(one).layer : one));
  return [...new Set(layers)].toSorted();
}

function resolve(path: string, specifier: string): string {
  return posix.join(posix.dirname(path), specifier);
}

const ALWAYS = ["cli", "protocol"];
const REMOTE = [...ALWAYS, "client"];
const LEDGER = [...ALWAYS, "engine", "stores", "src/create-engine.ts", "@cfworker/json-schema"];
const ACCESS = [...LEDGER, "http", "zod"];
const POLICY = [...ALWAYS, "policy", "@marcbachmann/cel-js", "re2js", "yaml"];

// Scripts and coding agents start these again and again: each pays at every start for everything that it loads.
test.each([
  ["main.ts", ALWAYS],
  ["commands/remote/hook.ts", REMOTE],
  ["commands/remote/exec.ts", REMOTE],
  ["commands/policy/check.ts", POLICY],
  ["commands/access/tokens.ts", ACCESS],
  ["commands/access/logins.ts", ACCESS],
  ...[
    "pending",
    "show",
    "approve",
    "deny",
    "cancel",
    "settle",
    "withdraw-vote",
    "audit/verify",
    "migrate",
    "tenants/tenants",
  ].map((name): [string, readonly string[]] => [`commands/${name}.ts`, LEDGER]),
])("%s of the command line loads only what it needs", (file, expected) => {
  expect(loadedBy(`src/cli/${file}`)).toEqual(expected.toSorted());
});

test("the list of commands loads none of them", () => {
  const index = "src/cli/commands/index.ts";
  const imports = importsOf(nodesOf(readSource(index))).filter(({ typeOnly }) => !typeOnly);
  const listed = new Set(imports.map(({ specifier = "" }) => resolve(index, specifier)));
  const files = globSync("src/cli/commands/**/*.ts", { cwd: ROOT }).filter((path) => !isTest(path));
  expect([...listed].toSorted()).toEqual(files.filter((path) => path !== index).toSorted());
  expect(imports.every(({ lazy }) => lazy)).toBe(true);
});
