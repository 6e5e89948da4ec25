import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { command, ROOT } from "../../scripts/command.ts";

interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
}

const FAST = [
  "--noCheck",
  "--declaration",
  "false",
  "--isolatedDeclarations",
  "false",
  "--sourceMap",
  "false",
];

const AGENT = `
import { Agent } from "countersign";
import { scripted } from "countersign/models/scripted";
export const rootAgent = new Agent({ name: "greeter", model: scripted(() => "Hello.") });
`;

/**
 * What the steps of the container file leave in `/app`, made from what is here: the compiled package, and copies of
 * the packages that its own script and the lock file call production. Beside it `/agents` and `/data`.
 */
export function buildImage(root: string): void {
  const app = join(root, "app");
  for (const folder of ["app", "agents/greeter", "data"]) mkdirSync(join(root, folder), { recursive: true });
  chmodSync(root, 0o755);
  writeFileSync(join(root, "agents/greeter/agent.mjs"), AGENT);
  const built = command("tsc", [
    "-p",
    "tsconfig.build.json",
    "--outDir",
    join(app, "dist"),
    ...FAST,
    "--inlineSources",
    "false",
  ]);
  if (built.status !== 0) throw new Error(built.stdout + built.stderr);
  cpSync(`${ROOT}/bin`, join(app, "bin"), { recursive: true });
  for (const folder of productionPackages(root))
    cpSync(`${ROOT}/${folder}`, join(app, folder), { recursive: true });
  cpSync(`${ROOT}/package.json`, join(app, "package.json"));
}

/** The package.json that the packages of the image are installed by. */
export function manifestOfImage(folder: string): Manifest {
  cpSync(`${ROOT}/package.json`, join(folder, "package.json"));
  const { status, stderr } = spawnSync(process.execPath, [`${ROOT}/deploy/with-peers.mjs`], {
    cwd: folder,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

/** The folders of the packages that these need, as the lock file lays them out. */
function productionPackages(root: string): ReadonlySet<string> {
  const { packages } = JSON.parse(readFileSync(`${ROOT}/package-lock.json`, "utf8")) as {
    readonly packages: Readonly<Record<string, Locked>>;
  };
  const found = new Set<string>();
  const add = (from: string, name: string): void => {
    const folder = foldersAbove(from)
      .map((above) => join(above, "node_modules", name))
      .find((candidate) => candidate in packages);
    if (folder === undefined || found.has(folder)) return;
    found.add(folder);
    const { dependencies = {}, optionalDependencies = {} } = packages[folder] ?? {};
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies })) add(folder, next);
  };
  for (const name of Object.keys(manifestOfImage(join(root, "agents")).dependencies)) add("", name);
  return found;
}

/** This folder of packages and those around it, innermost first. */
function foldersAbove(folder: string): readonly string[] {
  const inner = folder.lastIndexOf("node_modules/");
  return folder === "" ? [""] : [folder, ...foldersAbove(inner <= 0 ? "" : folder.slice(0, inner - 1))];
}

/** The ids to run as: the image's user where that can be, which is as root and where all can reach Node.js and this. */
export function userOf(user: string, root: string): { readonly uid?: number; readonly gid?: number } {
  const [uid = 0, gid = 0] = user.split(":").map(Number);
  const canBe = process.getuid?.() === 0 && isOpenToAll(process.execPath) && isOpenToAll(root);
  return canBe ? { uid, gid } : {};
}

function isOpenToAll(path: string): boolean {
  const isOpen = (statSync(path).mode & 0o001) !== 0;
  return isOpen && (dirname(path) === path || isOpenToAll(dirname(path)));
}
