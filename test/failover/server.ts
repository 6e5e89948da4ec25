import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { chmod, chown, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { ensurePostgresTools } from "../../scripts/test-tools.ts";
import { serverUser } from "../support/postgres/installed-server.ts";
import { execute, freePort } from "../support/postgres/server.ts";
import type { Resources } from "../support/resources.ts";

const SETTINGS = [
  "listen_addresses=127.0.0.1",
  "unix_socket_directories=",
  "shared_buffers=32MB",
  "max_connections=100",
  "wal_level=replica",
  "max_wal_senders=8",
  "wal_keep_size=128MB",
  "wal_retrieve_retry_interval=100ms",
  "hot_standby=on",
] as const;

/** One server of the machine's own PostgreSQL, on data of its own. */
export class Server {
  readonly port: number;
  readonly #bin: string;
  readonly #folder: string;
  readonly #data: string;
  readonly #user = serverUser();
  #process: ChildProcess | undefined;
  #guard: ChildProcess | undefined;

  private constructor(bin: string, folder: string, port: number) {
    this.#bin = bin;
    this.#folder = folder;
    this.#data = join(folder, "data");
    this.port = port;
  }

  /** One with no data yet. */
  static async prepare(resources: Resources): Promise<Server> {
    const folder = await resources.folder();
    await chmod(folder, 0o755);
    const server = new Server(ensurePostgresTools(), folder, await freePort());
    resources.add(() => server.kill());
    return server;
  }

  url(database: string): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`;
  }

  /** Begins with nothing in it, as a primary. */
  async init(): Promise<void> {
    await this.#emptyData();
    const flags = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"];
    this.#tool("initdb", ["-D", this.#data, ...flags]);
    await this.start();
  }

  /** Begins as a standby, with a copy of the primary's data, and goes on by what comes over the line at this port. */
  async follow(primary: Server, port: number): Promise<void> {
    await this.#emptyData();
    const from = ["-h", "127.0.0.1", "-p", String(primary.port), "-U", "postgres"];
    this.#tool("pg_basebackup", ["-D", this.#data, ...from, "-c", "fast", "-X", "stream", "--no-sync"]);
    const lines = [
      `primary_conninfo = 'host=127.0.0.1 port=${port} user=postgres application_name=standby'`,
      "recovery_target_timeline = 'latest'",
      "",
    ];
    // As an administrator would find it: what the primary waits for is the primary's own setting.
    await writeFile(join(this.#data, "postgresql.auto.conf"), lines.join("\n"));
    await writeFile(join(this.#data, "standby.signal"), "");
    await this.start();
  }

  /** Starts on the data that is there. */
  async start(): Promise<void> {
    const settings = [...SETTINGS, `port=${this.port}`].flatMap((setting) => ["-c", setting]);
    this.#process = spawn(join(this.#bin, "postgres"), ["-D", this.#data, ...settings], {
      ...this.#user,
      cwd: this.#folder,
      stdio: ["ignore", "ignore", "ignore"],
    });
    // If this process is killed, nobody else would stop the server.
    this.#guard = spawn("sh", ["-c", `read _; kill -QUIT ${this.#process.pid}`], {
      stdio: ["pipe", "ignore", "ignore"],
    });
    this.#guard.unref();
    await this.#untilReady();
  }

  /** Kills all its processes at once: what was in its memory is gone. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    // Stopped first, so that it makes no child that nobody kills.
    kill(child.pid, "SIGSTOP");
    const children = childrenOf(child.pid);
    for (const pid of [child.pid, ...children]) kill(pid);
    await gone;
    // Until the last of them is gone, the memory that they share is in use, and the server cannot start again.
    while (children.some(isAlive)) await setTimeout(5);
    this.#guard?.kill();
  }

  async promote(): Promise<void> {
    await this.ask("select pg_promote(true, 30)");
  }

  ask(statement: string): Promise<unknown> {
    return execute(this.url("postgres"), statement);
  }

  /** Makes every synced commit wait for the standby. Resolves when it does. */
  async waitForStandby(): Promise<void> {
    await this.ask("alter system set synchronous_standby_names = '*'");
    await this.ask("select pg_reload_conf()");
    await this.untilFollowed("sync");
  }

  /** Resolves when a standby follows, or is waited for. */
  async untilFollowed(how: "async" | "sync"): Promise<void> {
    const states = how === "sync" ? "('sync', 'quorum')" : "('async', 'sync', 'quorum')";
    const found = `select 1 from pg_stat_replication where state = 'streaming' and sync_state in ${states}`;
    for (;;) {
      const [result] = await execute(this.url("postgres"), found);
      if (result?.rowCount !== 0) return;
      await setTimeout(20);
    }
  }

  async #emptyData(): Promise<void> {
    await rm(this.#data, { recursive: true, force: true });
    await mkdir(this.#data, { mode: 0o700 });
    const { uid, gid } = this.#user;
    if (uid !== undefined && gid !== undefined) await chown(this.#data, uid, gid);
  }

  #tool(name: string, args: readonly string[]): void {
    const made = spawnSync(join(this.#bin, name), args, {
      ...this.#user,
      cwd: this.#folder,
      encoding: "utf8",
    });
    if (made.status !== 0) throw new Error(`${name}: ${made.stderr}`);
  }

  async #untilReady(): Promise<void> {
    for (;;) {
      if (this.#process?.exitCode !== null) throw new Error(`The server ended (${this.#process?.exitCode}).`);
      try {
        await this.ask("select 1");
        return;
      } catch {
        await setTimeout(20);
      }
    }
  }
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
  } catch {
    return [];
  }
}

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

function kill(pid: number, signal: "SIGKILL" | "SIGSTOP" = "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}
