// What the tests need beside the packages: looked for, fetched where that can be done without asking anybody.
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { command, ROOT } from "./command.ts";
import { whileLocked } from "./file-lock.ts";

const CACHE = join(ROOT, "node_modules", ".cache", "countersign");

/** In the packages of a peer: the lock file that they were installed from. */
const STAMP = ".countersign-locked";
const INSTALL_MS = 900_000;

const CHROMIUM_NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"] as const;
const HEADLESS_SHELL = "chromium-headless-shell";

const POSTGRES_TOOLS = ["initdb", "postgres", "pg_dump", "pg_restore", "createdb"] as const;
const NO_CLUSTER = "/etc/postgresql-common/createcluster.conf";

const ADK_WEB = { name: "@google/adk-devtools", version: "2.0.0" } as const;

/** The path of a Chromium: the one that CHROMIUM_PATH names, the system's, or one that was just installed. */
export async function ensureChromium(): Promise<string> {
  const named = process.env["CHROMIUM_PATH"];
  if (named !== undefined && named !== "") {
    if (existsSync(named)) return named;
    throw new Error(`CHROMIUM_PATH is ${named}, and there is no such file.`);
  }
  const found =
    findProgram(CHROMIUM_NAMES) ?? (installPackage("chromium") ? findProgram(CHROMIUM_NAMES) : undefined);
  if (found !== undefined) return found;
  throw new Error(
    "The browser tests need Chromium: install it (Debian: apt-get install chromium), or set CHROMIUM_PATH to one.",
  );
}

/**
 * The path of a Chromium that draws pages and nothing else, at half of what the whole browser takes. It has no
 * notifications and cannot install pages. Where it cannot be had: the whole browser.
 */
export async function ensureHeadlessShell(): Promise<string> {
  const named = process.env["CHROMIUM_PATH"] ?? "";
  const isThere = named === "" && ensureProgram(HEADLESS_SHELL);
  return (isThere ? findProgram([HEADLESS_SHELL]) : undefined) ?? ensureChromium();
}

/** The folder of the ADK's own web UI as it was published, without the packages that its server would need. */
export async function ensureAdkWeb(): Promise<string> {
  const { name, version } = ADK_WEB;
  const folder = join(CACHE, `adk-devtools-${version}`);
  const browser = join(folder, "package", "dist", "browser");
  if (existsSync(browser)) return browser;
  await mkdir(CACHE, { recursive: true });
  const fetched = await mkdtemp(join(CACHE, "fetching-"));
  try {
    run("npm", ["pack", `${name}@${version}`, "--silent", "--pack-destination", fetched]);
    run("tar", ["-xzf", join(fetched, `google-adk-devtools-${version}.tgz`), "-C", fetched]);
    // Whole or not at all: of two that fetch it at once, one moves it here and the other finds it.
    await rename(fetched, folder).catch((error: unknown) => {
      if (!existsSync(browser)) throw error;
    });
  } finally {
    await rm(fetched, { recursive: true, force: true });
  }
  return browser;
}

/** The folder of a program that we are tested inside of, `test/peers/<name>`, with its own packages installed as locked. */
export function ensurePeer(name: string): string {
  const folder = join(ROOT, "test", "peers", name);
  const locked = readFileSync(join(folder, "package-lock.json"), "utf8");
  const stamp = join(folder, "node_modules", STAMP);
  const isInstalled = (): boolean => existsSync(stamp) && readFileSync(stamp, "utf8") === locked;
  if (!isInstalled()) {
    mkdirSync(CACHE, { recursive: true });
    // Nobody may replace the packages while somebody else starts to use them.
    whileLocked(join(CACHE, `installing-${name}.lock`), INSTALL_MS, () => {
      if (!isInstalled()) installPeer(folder, locked);
    });
  }
  return folder;
}

function installPeer(folder: string, locked: string): void {
  const modules = join(folder, "node_modules");
  const beside = mkdtempSync(join(folder, "installing-"));
  try {
    for (const file of ["package.json", "package-lock.json"])
      copyFileSync(join(folder, file), join(beside, file));
    const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
    const { status, stderr } = command("npm", args, { cwd: beside, timeoutMs: INSTALL_MS });
    if (status !== 0) throw new Error(`The packages of ${folder} cannot be installed: ${stderr.trim()}`);
    writeFileSync(join(beside, "node_modules", STAMP), locked);
    rmSync(modules, { recursive: true, force: true });
    // Whole or not at all.
    renameSync(join(beside, "node_modules"), modules);
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
}

/**
 * The folder of a PostgreSQL server with the programs that back it up, all of one version: the one that POSTGRES_BIN
 * names, the system's newest, or one that was just installed. The server that comes as a package has none of them.
 */
export function ensurePostgresTools(): string {
  const named = process.env["POSTGRES_BIN"];
  if (named !== undefined && named !== "") {
    if (hasPostgresTools(named)) return named;
    throw new Error(`POSTGRES_BIN is ${named}, and ${POSTGRES_TOOLS.join(", ")} are not all there.`);
  }
  const found = findPostgresTools() ?? (installPostgres() ? findPostgresTools() : undefined);
  if (found !== undefined) return found;
  throw new Error(
    "The drill of backup and restore needs a PostgreSQL server with pg_dump and pg_restore: install it (Debian: apt-get install postgresql), or set POSTGRES_BIN to the folder of its programs.",
  );
}

/** Is this program on the PATH? Where it is missing and can be installed without asking anybody, it is. */
export function ensureProgram(name: string): boolean {
  return isOnPath(name) || (installPackage(name) && isOnPath(name));
}

const GO_SOURCES = "/usr/share/gocode";
/** What Helm's templates are made of, and the folders of their sources. */
const GO_PACKAGES: readonly (readonly [name: string, file: string])[] = [
  ["golang-go", "/usr/bin/go"],
  ["golang-github-masterminds-sprig-dev", `${GO_SOURCES}/src/github.com/Masterminds/sprig`],
  ["golang-k8s-sigs-yaml-dev", `${GO_SOURCES}/src/sigs.k8s.io/yaml`],
];

/** Go with the libraries that render a Helm chart: the folder of their sources. */
export function ensureGoLibraries(): string {
  const missing = GO_PACKAGES.filter(([name, file]) => !existsSync(file) && !installPackage(name));
  if (missing.length === 0) return GO_SOURCES;
  const names = missing.map(([name]) => name).join(" ");
  throw new Error(
    `The test of the Helm chart needs ${names}: install them (Debian: apt-get install ${names}).`,
  );
}

function findPostgresTools(): string | undefined {
  // Debian has a folder for each version; newest first, by number.
  const versions = globSync("/usr/lib/postgresql/*/bin").toSorted(
    (one, other) => versionIn(other) - versionIn(one),
  );
  return [...versions, ...folders()].find(hasPostgresTools);
}

function versionIn(folder: string): number {
  return Number(/\d+/.exec(folder)?.[0]);
}

function hasPostgresTools(folder: string): boolean {
  return POSTGRES_TOOLS.every((name) => existsSync(join(folder, name)));
}

// Its package would make a server of its own, and start it, unless it is told not to.
function installPostgres(): boolean {
  if (canInstall() && !existsSync(NO_CLUSTER)) {
    mkdirSync(dirname(NO_CLUSTER), { recursive: true });
    writeFileSync(NO_CLUSTER, "create_main_cluster = false\n");
  }
  return installPackage("postgresql");
}

function findProgram(names: readonly string[]): string | undefined {
  for (const folder of folders()) {
    for (const name of names) {
      if (existsSync(join(folder, name))) return join(folder, name);
    }
  }
  return undefined;
}

function canInstall(): boolean {
  return process.getuid?.() === 0 && isOnPath("apt-get");
}

function installPackage(name: string): boolean {
  if (!canInstall()) return false;
  process.stdout.write(`${name} is missing; installing it with apt-get.\n`);
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  command("apt-get", ["-qq", "update"], { show: true, env });
  const install = [
    "-qq",
    "install",
    "-y",
    "--no-install-recommends",
    "-o",
    "Dpkg::Options::=--force-confold",
    name,
  ];
  return command("apt-get", install, { show: true, env }).status === 0;
}

function run(program: string, args: readonly string[]): void {
  const { status, stderr } = command(program, args, { timeoutMs: 120_000 });
  if (status === 0) return;
  const { name, version } = ADK_WEB;
  throw new Error(
    `The ADK's web UI (${name} ${version}) cannot be fetched: ${program} said ${stderr.trim()}`,
  );
}

function isOnPath(name: string): boolean {
  return folders().some((folder) => existsSync(join(folder, name)));
}

function folders(): readonly string[] {
  return (process.env["PATH"] ?? "").split(delimiter);
}
