import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { generateText } from "ai";
import { describe, expect, test } from "vitest";
import { ROOT } from "../../../scripts/command.ts";
import { useResources } from "../../support/resources.ts";
import { adapterContract } from "../contract/cases.ts";
import { Scene } from "../contract/scene.ts";
import { SUBJECTS } from "../subjects/index.ts";
import { PEERS } from "../subjects/peers.ts";
import { FOLDER, LOWEST } from "./packages.ts";

const resources = useResources();
const program = new URL("program.ts", import.meta.url);
/** Its processes are not bundled. */
const TIMEOUT = 120_000;

/** The adapters whose frameworks are developed with in a newer version than the lowest. */
const ADAPTERS: readonly string[] = ["ai-sdk", "langchain", "mcp-server"];

/** The peers that adapters are made for. */
const FRAMEWORKS = [
  "@anthropic-ai/claude-agent-sdk",
  "@google/adk",
  "@langchain/core",
  "@langchain/langgraph",
  "@mastra/core",
  "@modelcontextprotocol/sdk",
  "@modelcontextprotocol/server",
  "@openai/agents",
  "ai",
];

interface Manifest {
  readonly version: string;
  readonly peerDependencies: { readonly [name: string]: string };
  readonly dependencies?: { readonly [name: string]: string };
  readonly devDependencies?: { readonly [name: string]: string };
}

function manifest(...path: string[]): Manifest {
  return JSON.parse(readFileSync(join(ROOT, ...path, "package.json"), "utf8")) as Manifest;
}

test("every framework is tested in the lowest version of its declared range", () => {
  const { peerDependencies, devDependencies } = manifest();
  const peers = PEERS.map(({ folder }) => manifest("test", "peers", folder).dependencies);
  const tested = new Map([devDependencies, ...peers, LOWEST].flatMap((each = {}) => Object.entries(each)));
  const lowest = FRAMEWORKS.map((name) => [name, peerDependencies[name]]);
  expect(FRAMEWORKS.map((name) => [name, `^${tested.get(name)}`])).toEqual(lowest);
});

test("the imports of this suite are of the lowest versions", async () => {
  const folder = join(fileURLToPath(FOLDER), "node_modules", "ai");
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  expect(version).toBe(LOWEST["ai"]);
  const { generateText: lowest } = (await import(/* @vite-ignore */ join(folder, "dist", "index.js"))) as {
    readonly generateText: unknown;
  };
  expect(generateText).toBe(lowest);
});

/** What a framework does not do in its lowest version. */
const EXCEPT: Readonly<Record<string, string>> = {
  // It parses what the schema has renamed again when it goes on, and refuses it: the approved call does not run.
  "ai-sdk": "arguments that a schema renames run as they were shown, and others under the call's id do not",
};

const subjects = SUBJECTS.filter(({ name }) => ADAPTERS.includes(name));

describe.each(subjects)("$name", { timeout: TIMEOUT }, (subject) => {
  const { except = {} } = subject;
  const cases = adapterContract.filter(
    ({ name }) => !Object.hasOwn(except, name) && EXCEPT[subject.name] !== name,
  );
  // The store does not depend on the framework's version: PostgreSQL is tested with the newest.
  test.each(cases)("$name", async ({ run }) => {
    const folder = await resources.folder();
    const url = `sqlite:${join(folder, "ledger.db")}`;
    await expect(run(new Scene(resources, { subject, url, folder, program }))).resolves.toBeUndefined();
  });
});
