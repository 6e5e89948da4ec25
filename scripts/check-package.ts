// Packs what would be published and looks at it from outside: as publint and arethetypeswrong see it, and as
// an empty project that installs it, imports every subpath and compiles against it.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { command, type Finished, ROOT } from "./command.ts";

/** What this script reads of package.json. */
interface Manifest {
  readonly name: string;
  readonly exports: { readonly [subpath: string]: string | { readonly types: string } };
  readonly dependencies?: { readonly [name: string]: string };
  readonly peerDependencies?: { readonly [name: string]: string };
}

/** What the probe, running inside the consumer, found after one import. */
interface Probed {
  readonly loaded: readonly string[];
  readonly traces: readonly string[];
  readonly names: number;
}

class Fault extends Error {}

/** Subpaths that have types and no values. */
const TYPES_ONLY: ReadonlySet<string> = new Set(["countersign/runtime"]);

/** Frameworks that leave traces of their own when they are imported: whoever uses the adapter has imported them before it. */
const FRAMEWORKS: ReadonlyMap<string, string> = new Map([
  ["countersign/langchain", "@langchain/langgraph"],
  ["countersign/openai-agents", "@openai/agents"],
]);

/** Frameworks that their adapter knows by shape only: it is used without them, and their trees are heavy. */
const BY_SHAPE: ReadonlySet<string> = new Set([
  "@anthropic-ai/claude-agent-sdk",
  "@google/adk",
  "@mastra/core",
]);

/** Modules whose types are made of a framework's. */
const ADAPTERS: ReadonlySet<string> = new Set([
  "countersign/ai-sdk",
  "countersign/langchain",
  "countersign/openai-agents",
]);

const manifest = JSON.parse(readFileSync(`${ROOT}/package.json`, "utf8")) as Manifest;
const modules = Object.entries(manifest.exports)
  .filter(([, target]) => typeof target === "object")
  .map(([subpath]) => subpath.replace(/^\./, manifest.name));

const folder = mkdtempSync(join(tmpdir(), "countersign-package-"));
try {
  main(join(folder, "consumer"));
} catch (error) {
  if (!(error instanceof Fault)) {
    throw error;
  }
  process.stderr.write(`check:package: ${error.message}\n`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function main(consumer: string): void {
  const tarball = step("pack", pack);
  step("publint", () => must(command("publint", ["run", tarball, "--strict"])));
  step("arethetypeswrong", () => must(command("attw", [tarball, "--profile", "esm-only"])));
  step("install in an empty project", () => install(consumer, [tarball]));
  const [root = manifest.name, ...others] = modules;
  step(`import ${root}`, () => checkRoot(probe(consumer, root)));
  step("run the demo", () => runDemo(consumer));
  step("serve a clone's examples", () => serveExamples(consumer));
  step("link the optional peers", () => linkPeers(consumer));
  for (const name of others) {
    step(`import ${name}`, () => probe(consumer, name));
  }
  step("compile a consumer", () => compile(consumer));
}

/** Those of the lock file, with all that they depend on: what others released since says nothing about this package. */
function linkPeers(consumer: string): void {
  for (const name of Object.keys(manifest.peerDependencies ?? {})) {
    const place = join(consumer, "node_modules", name);
    if (BY_SHAPE.has(name) || existsSync(place)) continue;
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", name), place);
  }
}

/** Runs one check and says how it went; a check that cannot go on throws. */
function step<Result>(name: string, check: () => Result): Result {
  const began = performance.now();
  process.stdout.write(`${name} …`);
  try {
    const result = check();
    process.stdout.write(` ok, ${Math.round(performance.now() - began)} ms\n`);
    return result;
  } catch (error) {
    process.stdout.write(" failed\n");
    throw error;
  }
}

function must(finished: Finished): Finished {
  if (finished.status !== 0) {
    throw new Fault(`exit code ${finished.status}\n${finished.stdout}${finished.stderr}`);
  }
  return finished;
}

/** Builds and packs, as publishing would. */
function pack(): string {
  must(command("npm", ["pack", "--silent", "--ignore-scripts=false", "--pack-destination", folder]));
  const [tarball] = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  if (tarball === undefined) {
    throw new Fault("npm pack left no tarball");
  }
  return join(folder, tarball);
}

function install(consumer: string, packages: readonly string[]): void {
  mkdirSync(consumer, { recursive: true });
  const options = ["--no-audit", "--no-fund", "--ignore-scripts", "--save", "--prefix", consumer];
  if (!readdirSync(consumer).includes("package.json")) {
    writeFileSync(join(consumer, "package.json"), `{ "private": true, "type": "module" }\n`);
  }
  must(command("npm", ["install", ...options, ...packages], { cwd: consumer }));
}

/**
 * Imports a module in a fresh process of the repository's Node.js. Importing must print nothing, start no
 * timer, leave no handle open, add no global and no listener, and the process must then end by itself.
 */
function probe(consumer: string, name: string): Probed {
  const framework = FRAMEWORKS.get(name);
  // node:http opens a pipe of its own where the output is one; that is Node's trace, and comes before ours.
  const script = `
    import "node:http";
    ${framework === undefined ? "" : `import ${JSON.stringify(framework)};`}
    import { registerHooks } from "node:module";
    import { writeFileSync } from "node:fs";
    const loaded = [];
    registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
    const state = () => [
      ...Object.getOwnPropertyNames(globalThis).map((name) => "global " + name),
      ...process.eventNames().map((name) => "listener on process: " + String(name)),
      ...process.getActiveResourcesInfo().map((name) => "open handle " + name),
    ];
    const timers = [];
    for (const name of ["setTimeout", "setInterval", "setImmediate"]) {
      const original = globalThis[name];
      globalThis[name] = (...args) => (timers.push("call of " + name), original(...args));
    }
    const before = new Set(state());
    const module = await import(${JSON.stringify(name)});
    const traces = [...state().filter((trace) => !before.has(trace)), ...timers];
    writeFileSync("probed.json", JSON.stringify({ loaded, traces, names: Object.keys(module).length }));`;
  const file = join(consumer, "probe.mjs");
  writeFileSync(file, script);
  const ended = must(command("node", [file], { cwd: consumer, timeoutMs: 15_000 }));
  if (ended.stdout !== "" || ended.stderr !== "") {
    throw new Fault(`importing ${name} prints\n${ended.stdout}${ended.stderr}`);
  }
  const probed = JSON.parse(readFileSync(join(consumer, "probed.json"), "utf8")) as Probed;
  // zod's way of being one zod where two copies of it are loaded.
  const traces = probed.traces.filter((trace) => !trace.startsWith("global __zod_"));
  if (traces.length > 0) {
    throw new Fault(`importing ${name} leaves traces: ${traces.join(", ")}`);
  }
  if (probed.names === 0 && !TYPES_ONLY.has(name)) {
    throw new Fault(`${name} exports nothing`);
  }
  return probed;
}

/** Starts the demo as installed, without optional peers: it serves every example, and ends when it is told to. */
function runDemo(consumer: string): void {
  checkServed(consumer, [`node_modules/${manifest.name}/bin/countersign.mjs`, "demo"]);
}

/** The build serves the examples of a clone, which name the source: an agent of another copy would be refused. */
function serveExamples(consumer: string): void {
  checkServed(consumer, [`${ROOT}/bin/countersign.mjs`, "serve", `${ROOT}/examples/agents`]);
}

/** Starts a server, reads what it says that it serves, and stops it. */
function checkServed(consumer: string, words: readonly string[]): void {
  const script = `
    import { spawn } from "node:child_process";
    const args = ${JSON.stringify([...words, "--port", "0", "--db", "memory:", "--json"])};
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    child.stdout.once("data", (line) => {
      process.stdout.write(line);
      child.kill("SIGTERM");
    });
    child.on("exit", (code) => {
      process.exitCode = code ?? 1;
    });`;
  const file = join(consumer, "served.mjs");
  writeFileSync(file, script);
  const { stdout } = must(command("node", [file], { cwd: consumer, timeoutMs: 60_000 }));
  const { apps } = JSON.parse(stdout) as { readonly apps: readonly string[] };
  const examples = readdirSync(`${ROOT}/examples/agents`).toSorted();
  if (apps.join() !== examples.join()) throw new Fault(`${words.join(" ")} serves ${apps.join(", ")}`);
}

/** The root may load itself and hard dependencies: no optional peer, and no store before one is asked for. */
function checkRoot({ loaded }: Probed): void {
  const allowed = [manifest.name, ...Object.keys(manifest.dependencies ?? {})];
  const strange = loaded.filter(
    (url) =>
      url === "node:sqlite" ||
      !(url.startsWith("node:") || allowed.some((name) => url.includes(`/node_modules/${name}/`))),
  );
  if (strange.length > 0) {
    throw new Fault(`importing ${manifest.name} loads ${strange.join(", ")}`);
  }
}

/** Type-checks files that import everything, as a strict project that checks declarations too: those of frameworks do not pass. */
function compile(consumer: string): void {
  compileImports(consumer, { names: modules.filter((name) => !ADAPTERS.has(name)), skipLibCheck: false });
  compileImports(consumer, { names: [...ADAPTERS], skipLibCheck: true });
}

function compileImports(
  consumer: string,
  { names, skipLibCheck }: { readonly names: readonly string[]; readonly skipLibCheck: boolean },
): void {
  const imports = names.map((name, index) => `import * as module${index} from ${JSON.stringify(name)};`);
  const uses = names.map((_, index) => `Object.keys(module${index})`);
  writeFileSync(
    join(consumer, "index.ts"),
    [...imports, `export const names: string[][] = [${uses.join(", ")}];\n`].join("\n"),
  );
  const compilerOptions = {
    target: "es2024",
    module: "nodenext",
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck,
    noEmit: true,
    types: ["node"],
    typeRoots: [`${ROOT}/node_modules/@types`],
  };
  writeFileSync(join(consumer, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["index.ts"] }));
  must(command("tsc", ["-p", "."], { cwd: consumer }));
}
