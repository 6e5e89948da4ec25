import { globSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { command } from "../../../scripts/command.ts";

/** Bundles a working copy of this repository into a folder. `countersign.mjs` there is its command line. */
export function bundleSources(root: string, folder: string): void {
  const config = join(root, "test", "support", "processes", "bundle.config.ts");
  const args = ["build", "--config", config, "--outDir", folder, "--emptyOutDir", "--logLevel", "error"];
  const { status, stdout, stderr } = command("vite", args, { cwd: root });
  if (status !== 0) throw new Error(`The programs of the tests cannot be bundled:\n${stdout}${stderr}`);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  writeFileSync(join(folder, INSTEAD_OF_SOURCES), insteadOfSources(root, folder));
  writeFileSync(join(folder, "countersign.mjs"), entry(root));
}

/** In the folder: imported first, it gives whoever imports our sources the bundled package. */
export const INSTEAD_OF_SOURCES = "instead-of-sources.mjs";

/** What `bin/countersign.mjs` does with `dist`. */
function entry(root: string): string {
  return `import "./${INSTEAD_OF_SOURCES}";
import { start } from ${JSON.stringify(pathToFileURL(join(root, "bin", "start.mjs")).href)};

start(() => import("./src/cli/main.js"), "");
`;
}

/** An agent that is loaded from source gets the bundled package: of a second copy its classes would be others. */
function insteadOfSources(root: string, folder: string): string {
  const bundled = globSync("src/**/*.js", { cwd: folder }).map((file) => [
    pathToFileURL(join(root, file.replace(/\.js$/, ".ts"))).href,
    `./${file}`,
  ]);
  return `import { registerHooks } from "node:module";

const bundled = new Map(${JSON.stringify(bundled)});
registerHooks({
  load: (url, context, next) => {
    const file = bundled.get(url);
    if (file === undefined) return next(url, context);
    const source = \`export * from \${JSON.stringify(new URL(file, import.meta.url).href)};\`;
    return { format: "module", source, shortCircuit: true };
  },
});
`;
}
