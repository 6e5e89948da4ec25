import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmod, chown, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ensurePostgresTools } from "../../../scripts/test-tools.ts";
import type { Resources } from "../resources.ts";
import { freePort } from "./server.ts";

const SETTINGS = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "shared_buffers=32MB"];

/** A server of the machine's own PostgreSQL, which has the programs that back it up. */
export interface InstalledPostgres {
  /** The folder of those programs. */
  readonly bin: string;
  url(database: string): string;
}

/** Starts one with nothing in it. It ends, and its data goes, with the resources. */
export async function startInstalledPostgres(resources: Resources): Promise<InstalledPostgres> {
  const bin = ensurePostgresTools();
  const folder = await resources.folder();
  await chmod(folder, 0o755);
  const data = join(folder, "data");
  const user = await giveToServer(data);
  const made = spawnSync(
    join(bin, "initdb"),
    ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"],
    { ...user, cwd: folder, encoding: "utf8" },
  );
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
  const port = await freePort();
  const settings = [...SETTINGS, `port=${port}`].flatMap((setting) => ["-c", setting]);
  const server = spawn(join(bin, "postgres"), ["-D", data, ...settings], {
    ...user,
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
  // If this process is killed, nobody else would stop the server.
  const guard = spawn("sh", ["-c", `read _; kill -QUIT ${server.pid}`], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  guard.unref();
  resources.add(() => stop(server, guard));
  await untilReady(server);
  return { bin, url: (database) => `postgres://postgres@127.0.0.1:${port}/${database}` };
}

/** The server's own user gets the folder, and the user's ids are given. */
async function giveToServer(data: string): Promise<ServerUser> {
  await mkdir(data, { mode: 0o700 });
  const user = serverUser();
  if (user.uid !== undefined && user.gid !== undefined) await chown(data, user.uid, user.gid);
  return user;
}

/** As whom a program runs that refuses to run as root; nothing where the tests do not run as root. */
export interface ServerUser {
  readonly uid?: number;
  readonly gid?: number;
}

export function serverUser(): ServerUser {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = ["-u", "-g"].map((what) => {
    const { status, stdout } = spawnSync("id", [what, "postgres"], { encoding: "utf8" });
    if (status !== 0) throw new Error("There is no user postgres for the server to run as.");
    return Number(stdout);
  }) as [number, number];
  return { uid, gid };
}

async function untilReady({ stderr, exitCode }: ChildProcess): Promise<void> {
  if (stderr === null) throw new Error("The server says nothing.");
  const said: string[] = [];
  await new Promise<void>((resolve, reject) => {
    const lines = createInterface({ input: stderr });
    lines.on("line", (line) => {
      said.push(line);
      if (line.includes("ready to accept connections")) resolve();
    });
    lines.on("close", () => reject(new Error(`The server ended (${exitCode}).\n${said.join("\n")}`)));
  });
}

async function stop(server: ChildProcess, guard: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => server.once("exit", resolve));
  if (server.exitCode === null && server.signalCode === null) {
    server.kill("SIGQUIT");
    await gone;
  }
  guard.kill();
}
