import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { ROOT } from "../../../scripts/command.ts";
import { bundleSources } from "./bundle-sources.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The folder of the bundled programs. */
    readonly bundle: string;
  }
}

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
  bundleSources(ROOT, beside);
  try {
    renameSync(beside, folder);
  } catch (error) {
    // Another run has bundled the same meanwhile.
    rmSync(beside, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}

function removeUnused(): void {
  mkdirSync(CACHE, { recursive: true });
  for (const name of readdirSync(CACHE)) {
    const folder = join(CACHE, name);
    if (Date.now() - statSync(folder).mtimeMs > UNUSED_AFTER_MS)
      rmSync(folder, { recursive: true, force: true });
  }
}
