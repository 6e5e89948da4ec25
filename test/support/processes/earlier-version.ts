import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { command, ROOT } from "../../../scripts/command.ts";
import { bundleSources } from "./bundle-sources.ts";

/**
 * The last version, which must work beside this one on one ledger. Nothing is released yet, so it is an earlier commit whose
 * ledgers have today's schema. **At a release**, put the commit of that release here (`git rev-parse vX.Y.Z^{commit}`). If
 * a later migration is marked as breaking, the two cannot work side by side: put the first commit after it here.
 */
const EARLIER = "896e67251dbca979c0698dd3562fd5111494aac5";

/** What of it is needed to bundle it. Its programs for tests are not: they would take longer than all else. */
const PARTS = ["src", "bin", "package.json", "tsconfig.json", "test/support/processes"];

/** Bundles the last version in an empty folder, with the packages of this one; the script of its command line. */
export function bundleEarlierVersion(folder: string): string {
  const [source, archive] = [join(folder, "source"), join(folder, "source.tar")];
  // Inside, where the packages are found that are not bundled.
  const bundle = join(source, "bundle");
  mkdirSync(source);
  const git = command("git", ["archive", `--output=${archive}`, EARLIER, "--", ...PARTS]);
  if (git.status !== 0) throw new Error(missing(git.stderr));
  const tar = command("tar", ["-xf", archive, "-C", source]);
  if (tar.status !== 0) throw new Error(`The last version cannot be unpacked:\n${tar.stderr}`);
  symlinkSync(join(ROOT, "node_modules"), join(source, "node_modules"));
  bundleSources(source, bundle);
  return join(bundle, "countersign.mjs");
}

function missing(said: string): string {
  return (
    `This test runs the last version too, and reads it from git: commit ${EARLIER}. It is not in this copy of the repository, ` +
    `which may be shallow or have no history. Get it with \`git fetch --unshallow\` or \`git fetch origin ${EARLIER}\`.\n${said}`
  );
}
