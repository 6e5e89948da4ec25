import { execFileSync, spawn } from "node:child_process";
import { chmod, chown, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import pg from "pg";
import { ensureProgram } from "../../../scripts/test-tools.ts";
import type { Resources } from "../resources.ts";
import { serverUser } from "./installed-server.ts";
import { freePort } from "./server.ts";

const SERVER_CONNECTIONS = 2;
const PID = "select pg_backend_pid() as pid";

/** How a PgBouncer is set up. */
export interface PgBouncerOptions {
  /** Default: `transaction`. */
  readonly mode?: "session" | "transaction" | "statement";
  /** False: it refuses the settings that we connect with, as it does when nobody told it otherwise. */
  readonly ignoresOptions?: boolean;
  /** How many server connections it has for each database. Default: 2. */
  readonly connections?: number;
}

/**
 * A real PgBouncer. It hands out its two server connections per transaction, and ignores the settings that we connect
 * with, unless told otherwise. Version 1.18 does not know prepared statements; newer ones are told not to.
 */
export class PgBouncer {
  /** The database's URL, through here. */
  readonly url: string;
  readonly #holders: readonly pg.Client[];

  private constructor(url: string, holders: readonly pg.Client[]) {
    this.url = url;
    this.#holders = holders;
  }

  static async start(
    resources: Resources,
    database: string,
    options: PgBouncerOptions = {},
  ): Promise<PgBouncer> {
    if (!ensureProgram("pgbouncer")) throw new Error("This test needs pgbouncer: apt-get install pgbouncer");
    const folder = await resources.folder();
    const port = await freePort();
    const file = join(folder, "pgbouncer.ini");
    await writeFile(file, configOf(new URL(database), port, options));
    const user = serverUser();
    if (user.uid !== undefined && user.gid !== undefined) await chown(folder, user.uid, user.gid);
    await chmod(file, 0o644);
    const child = spawn("pgbouncer", [file], { ...user, cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    resources.add(async () => {
      child.kill("SIGQUIT");
      await ended;
    });
    const lines = createInterface({ input: child.stderr });
    await new Promise<void>((resolve, reject) => {
      lines.on("line", (line) => (line.includes("process up") ? resolve() : undefined));
      child.once("exit", (code) => reject(new Error(`pgbouncer ended with ${code}`)));
    });
    const url = Object.assign(new URL(database), { port: String(port) }).href;
    const isShared = (options.mode ?? "transaction") === "transaction" && options.connections === undefined;
    const holders = Array.from(
      { length: isShared ? SERVER_CONNECTIONS : 0 },
      () => new pg.Client({ connectionString: url }),
    );
    for (const holder of holders) await holder.connect();
    resources.add(() => Promise.all(holders.map((holder) => holder.end().catch(() => {}))));
    return new PgBouncer(url, holders);
  }

  /** Whatever is asked meanwhile runs on the first or on the second server connection. */
  async on<T>(which: 0 | 1, work: () => Promise<T>): Promise<T> {
    const held: { readonly holder: pg.Client; readonly pid: number }[] = [];
    for (const holder of this.#holders) {
      await holder.query("begin");
      held.push({ holder, pid: (await holder.query<{ pid: number }>(PID)).rows[0]?.pid ?? 0 });
    }
    held.sort((one, other) => one.pid - other.pid);
    await held[which]?.holder.query("commit");
    try {
      return await work();
    } finally {
      await held[1 - which]?.holder.query("commit");
    }
  }
}

function configOf(
  { hostname, port, username, password }: URL,
  own: number,
  { mode = "transaction", ignoresOptions = true, connections = SERVER_CONNECTIONS }: PgBouncerOptions,
): string {
  return `
[databases]
* = host=${hostname} port=${port} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = ${connections}
ignore_startup_parameters = extra_float_digits${ignoresOptions ? ",options" : ""}
${knowsStatements() ? "max_prepared_statements = 0" : ""}
`;
}

/** Since 1.21 it keeps prepared statements, unless told not to. */
function knowsStatements(): boolean {
  const said = execFileSync("pgbouncer", ["--version"], { encoding: "utf8" });
  const [, major = "0", minor = "0"] = /(\d+)\.(\d+)/.exec(said) ?? [];
  return Number(major) > 1 || Number(minor) >= 21;
}
