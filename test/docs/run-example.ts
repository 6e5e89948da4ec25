import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { inject } from "vitest";
import { command, type Finished, ROOT } from "../../scripts/command.ts";
import { INSTEAD_OF_SOURCES } from "../support/processes/bundle-sources.ts";

const EXAMPLE_MS = 60_000;

/** Runs an example as it stands, with our package bundled: from source it would load some hundred files each time. */
export function runExample(file: string, cwd: string): Finished {
  const bundled = pathToFileURL(join(inject("bundle"), INSTEAD_OF_SOURCES)).href;
  return command("node", ["--import", bundled, join(ROOT, file)], { cwd, timeoutMs: EXAMPLE_MS });
}
