// Builds the agents of examples/agents into dist/demo, for the demo of the installed package.
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { command, ROOT } from "./command.ts";

const AGENTS = "examples/agents";
// Where the source is for an example in the repository, the package's own modules are for one in dist/demo.
const SOURCE_IMPORT = /(["'])\.\.\/\.\.\/\.\.\/src\//g;

/** Compiles the code of the agents and copies what else they need. Gives an exit code. */
export function buildDemo(): number {
  const folder = mkdtempSync(join(tmpdir(), "countersign-demo-"));
  try {
    const config = join(folder, "tsconfig.json");
    writeFileSync(config, JSON.stringify(configFor(folder)));
    const { status, stderr } = command("tsc", ["-p", config], { show: true });
    process.stderr.write(stderr);
    if (status === 0) collect(join(folder, "out", AGENTS));
    return status;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function configFor(folder: string): object {
  return {
    extends: join(ROOT, "tsconfig.json"),
    compilerOptions: {
      noEmit: false,
      // Checked with everything else.
      noCheck: true,
      rootDir: ROOT,
      outDir: join(folder, "out"),
      typeRoots: [join(ROOT, "node_modules/@types")],
    },
    include: [join(ROOT, AGENTS)],
  };
}

function collect(compiled: string): void {
  for (const file of globSync("**/*.js", { cwd: compiled })) {
    const code = readFileSync(join(compiled, file), "utf8").replaceAll(SOURCE_IMPORT, "$1../../");
    write(file, code);
  }
  for (const file of globSync("**/*.{mjs,yaml,json}", { cwd: join(ROOT, AGENTS) })) {
    const target = join(ROOT, "dist/demo", file);
    mkdirSync(dirname(target), { recursive: true });
    cpSync(join(ROOT, AGENTS, file), target);
  }
}

function write(file: string, text: string): void {
  const target = join(ROOT, "dist/demo", file);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
}
