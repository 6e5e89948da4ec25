import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";

const NAME = "countersign";
const FROM_SOURCE = import.meta.url.endsWith(".ts");
const ROOT = new URL("../../../", import.meta.url);
const SOURCE = new URL("src/", ROOT).href;
const BUILD = new URL("dist/", ROOT).href;

interface Manifest {
  readonly exports: { readonly [subpath: string]: string | { readonly default: string } };
}

let registered = false;

/**
 * From now on, `countersign` in a loaded file is the running copy, whatever is installed beside the file. Classes of a
 * second copy would not be recognised.
 */
export function shareOwnPackage(): void {
  if (registered) return;
  registered = true;
  const targets = exportedFiles();
  registerHooks({
    resolve: (specifier, context, next) => {
      const target = targets.get(specifier);
      if (target !== undefined) return { url: target, shortCircuit: true };
      const found = next(specifier, context);
      // In a clone, the examples import the source; this is the build of it.
      const isSource = !FROM_SOURCE && found.url.startsWith(SOURCE) && found.url.endsWith(".ts");
      if (!isSource) return found;
      const built = `${BUILD}${found.url.slice(SOURCE.length, -".ts".length)}.js`;
      return { ...found, url: built, format: "module", shortCircuit: true };
    },
  });
}

function exportedFiles(): ReadonlyMap<string, string> {
  const { exports } = JSON.parse(readFileSync(new URL("package.json", ROOT), "utf8")) as Manifest;
  return new Map(
    Object.entries(exports).flatMap(([subpath, target]) =>
      typeof target === "string" ? [] : [[subpath.replace(/^\./, NAME), fileOf(target.default)] as const],
    ),
  );
}

function fileOf(built: string): string {
  const path = FROM_SOURCE ? built.replace("./dist/", "./src/").replace(/\.js$/, ".ts") : built;
  return new URL(path, ROOT).href;
}
