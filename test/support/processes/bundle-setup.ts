import { createHash } from "node:crypto";
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { TestProject } from "vitest/node";
import { command, ROOT } from "../../../scripts/command.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The folder of the bundled programs. */
    readonly bundle: string;
  }
}

const CONFIG = join(ROOT, "test", "support", "processes", "bundle.config.ts");
const CACHE = join(ROOT, "node_modules", ".cache", "countersign-bundles");
const SOURCES = ["src/**/*.ts", "test/**/*.ts", "package.json", "package-lock.json"];
const UNUSED_AFTER_MS = 24 * 60 * 60_000;

/**
 * Bundles what tests start as processes, unless the same source was bundled before. Tests start many hundreds of
 * processes, and from source each loads some hundred files: this halves what a start costs.
 */
export function setup(project: TestProject): void {
  const folder = join(CACHE, fingerprint());
  if (!existsSync(folder)) bundle(folder);
  project.provide("bundle", folder);
}

/** Of everything that may go into a bundle. */
function fingerprint(): string {
  const hash = createHash("sha256");
  for (const file of globSync(SOURCES, { cwd: ROOT, exclude: ["**/node_modules"] }).toSorted()) {
    if (file.endsWith(".test.ts")) continue;
    const { mtimeMs, size } = statSync(join(ROOT, file));
    hash.update(`${file} ${mtimeMs} ${size}\n`);
  }
  return hash.digest("hex").slice(0, 16);
}

function bundle(folder: string): void {
  removeUnused();
  const beside = `${folder}-${process.pid}`;
  const args = ["build", "--config", CONFIG, "--outDir", beside, "--emptyOutDir", "--logLevel", "error"];
  const { status, stdout, stderr } = command("vite", args);
  if (status !== 0) throw new Error(`The programs of the tests cannot be bundled:\n${stdout}${stderr}`);
  writeFileSync(join(beside, "package.json"), '{ "type": "module" }\n');
  writeFileSync(join(beside, "countersign.mjs"), entry(beside));
  try {
    renameSync(beside, folder);
  } catch (error) {
    // Another run has bundled the same meanwhile.
    rmSync(beside, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}

/**
 * What `bin/countersign.mjs` does with `dist`. An agent that is loaded from source gets the bundled package: of a
 * second copy its classes would be others.
 */
function entry(folder: string): string {
  const bundled = globSync("src/**/*.js", { cwd: folder }).map((file) => [
    pathToFileURL(join(ROOT, file.replace(/\.js$/, ".ts"))).href,
    `./${file}`,
  ]);
  return `import { registerHooks } from "node:module";
import { start } from ${JSON.stringify(pathToFileURL(join(ROOT, "bin", "start.mjs")).href)};

const bundled = new Map(${JSON.stringify(bundled)});
registerHooks({
  load: (url, context, next) => {
    const file = bundled.get(url);
    if (file === undefined) return next(url, context);
    const source = \`export * from \${JSON.stringify(new URL(file, import.meta.url).href)};\`;
    return { format: "module", source, shortCircuit: true };
  },
});
start(() => import("./src/cli/main.js"), "");
`;
}

function removeUnused(): void {
  mkdirSync(CACHE, { recursive: true });
  for (const name of readdirSync(CACHE)) {
    const folder = join(CACHE, name);
    if (Date.now() - statSync(folder).mtimeMs > UNUSED_AFTER_MS)
      rmSync(folder, { recursive: true, force: true });
  }
}
