import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { SourceFile } from "./syntax.ts";

/** The folder of the repository, with a slash at its end. */
export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Reads one file of the repository. */
export function readSource(path: string): SourceFile {
  return { path, text: readFileSync(`${ROOT}${path}`, "utf8") };
}

/** Every TypeScript file that is shipped or served: `src`, and `web` where it exists. */
export function readSources(): SourceFile[] {
  return globSync(["src/**/*.ts", "web/src/**/*.{ts,tsx}"], { cwd: ROOT })
    .map((path) => path.replaceAll("\\", "/"))
    .toSorted()
    .map(readSource);
}

/** What the tests read of package.json. */
export interface Manifest {
  readonly exports: {
    readonly [subpath: string]: string | { readonly types: string; readonly default: string };
  };
  readonly dependencies?: { readonly [name: string]: string };
  readonly peerDependencies?: { readonly [name: string]: string };
  readonly peerDependenciesMeta?: { readonly [name: string]: { readonly optional?: boolean } };
}

/** Reads package.json. */
export function readManifest(): Manifest {
  return JSON.parse(readSource("package.json").text) as Manifest;
}
