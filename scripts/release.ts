// `npm run release -- X.Y.Z`: checks the package, gives it the version, moves the changelog's "Unreleased" below it,
// commits and tags; leaves the package, its SBOM and its provenance in `release/`. Publishes and pushes nothing. With
// --dry-run nothing is left behind.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { command, ROOT } from "./command.ts";
import { packInto, writeProvenance, writeSbom } from "./release-files.ts";

const FILES = ["package.json", "package-lock.json", "CHANGELOG.md"] as const;
const VERSION = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;
const UNRELEASED = "## Unreleased\n";

class Fault extends Error {}

try {
  main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof Fault)) throw error;
  process.stderr.write(`release: ${error.message}\n`);
  process.exitCode = 1;
}

function main(args: readonly string[]): void {
  const dryRun = args.includes("--dry-run");
  const [version = "", ...more] = args.filter((arg) => arg !== "--dry-run");
  if (!VERSION.test(version) || more.length > 0)
    throw new Fault("Give one version: npm run release -- X.Y.Z [--dry-run]");
  const tag = `v${version}`;
  if (git("status", "--porcelain") !== "")
    throw new Fault("The working tree has changes. Commit or stash them first.");
  if (git("tag", "--list", tag) !== "") throw new Fault(`The tag ${tag} exists already.`);
  const notes = notesIn(readFileSync(`${ROOT}/CHANGELOG.md`, "utf8"));
  let done = false;
  let made = "";
  const folder = dryRun ? mkdtempSync(join(tmpdir(), "countersign-release-")) : `${ROOT}/release`;
  try {
    setVersion(version);
    must("npm", ["run", "--silent", "build"]);
    must("npm", ["run", "--silent", "check:package"]);
    // All that can fail is done before the tag exists.
    const tarball = packInto(folder);
    const base = tarball.replace(/\.tgz$/, "");
    writeSbom(`${base}.cdx.json`);
    if (!dryRun) {
      git("add", ...FILES.filter((file) => existsSync(`${ROOT}/${file}`)));
      git("commit", "--quiet", "--message", `Release ${version}`);
      git("tag", "--annotate", tag, "--cleanup=verbatim", "--message", `Countersign ${version}\n\n${notes}`);
      done = true;
    }
    writeProvenance(`${base}.provenance.json`, { tarball, commit: git("rev-parse", "HEAD") });
    made = basename(tarball);
  } finally {
    // Whatever failed, and after a dry run: the files are as they were.
    if (!done) git("checkout", "--quiet", "HEAD", "--", ".");
    if (!done) rmSync(folder, { recursive: true, force: true });
  }
  process.stdout.write(`${notes}\n\n`);
  process.stdout.write(
    dryRun
      ? `Dry run: ${tag} would be committed and tagged.\n`
      : `Tagged ${tag}. To publish: git push --follow-tags && npm publish release/${made}\n`,
  );
}

/** The release notes: what the changelog says below "Unreleased". */
function notesIn(changelog: string): string {
  const start = changelog.indexOf(UNRELEASED);
  const rest = start < 0 ? "" : changelog.slice(start + UNRELEASED.length);
  const [notes = ""] = rest.split(/^## /m);
  if (notes.trim() === "") throw new Fault('CHANGELOG.md has nothing below "## Unreleased".');
  return notes.trim();
}

function setVersion(version: string): void {
  must("npm", ["version", version, "--no-git-tag-version", "--allow-same-version", "--ignore-scripts"]);
  const file = `${ROOT}/CHANGELOG.md`;
  const today = new Date().toISOString().slice(0, "2026-01-01".length);
  const changelog = readFileSync(file, "utf8");
  // A function: what it returns is taken as it is.
  writeFileSync(
    file,
    changelog.replace(UNRELEASED, () => `${UNRELEASED}\n## ${version} (${today})\n`),
  );
}

function git(...args: readonly string[]): string {
  return must("git", args).trim();
}

function must(name: string, args: readonly string[]): string {
  const { status, stdout, stderr } = command(name, args);
  if (status !== 0) throw new Fault(`${name} ${args.join(" ")} failed:\n${stdout}${stderr}`);
  return stdout;
}
