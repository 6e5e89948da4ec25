// Builds the inbox into dist/web.
import { existsSync, globSync, renameSync, rmSync, statSync } from "node:fs";
import { command, ROOT } from "./command.ts";

const MOST_TRIES = 5;
const TARGET = `${ROOT}/dist/web`;

/** Builds the inbox beside its place and then moves it there, so that nobody meets half of it. Gives an exit code. */
export function buildWeb(): number {
  const beside = `${TARGET}-${process.pid}`;
  const args = ["build", "web", "--outDir", beside, "--emptyOutDir", "--logLevel", "warn"];
  // A test runner has another NODE_ENV, and React would be built for debugging.
  const { status, stderr } = command("vite", args, { show: true, env: { NODE_ENV: "production" } });
  process.stderr.write(stderr);
  if (status === 0) putInPlace(beside);
  rmSync(beside, { recursive: true, force: true });
  return status;
}

/** Another process may put its own there during or between the two steps; then that one has to go first. */
function putInPlace(built: string): void {
  for (let tries = 1; ; tries += 1) {
    try {
      rmSync(TARGET, { recursive: true, force: true });
      renameSync(built, TARGET);
      return;
    } catch (error) {
      if (tries === MOST_TRIES) throw error;
    }
  }
}

/**
 * Builds the inbox where there is none yet, or where one of its files is newer than what was built. Says so
 * first: it takes some seconds. A server without it still serves everything else, so a failure is only told.
 */
export function ensureWebBuilt(): void {
  if (isBuilt()) return;
  process.stderr.write("Building the inbox, once; this takes some seconds.\n");
  if (buildWeb() !== 0) process.stderr.write("The inbox could not be built; the API works without it.\n");
}

function isBuilt(): boolean {
  const index = `${TARGET}/index.html`;
  if (!existsSync(index)) return false;
  const built = statSync(index).mtimeMs;
  const sources = globSync(
    ["web/**/*.{ts,tsx,css,html,svg,png,webmanifest}", "src/{client,protocol}/**/*.ts"],
    {
      cwd: ROOT,
    },
  );
  return sources.every((file) => statSync(`${ROOT}/${file}`).mtimeMs <= built);
}
