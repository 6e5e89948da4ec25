import type { ConnectionSettings, Driver } from "./driver.ts";
import type { ParsedUrl } from "./settings.ts";

const LIMIT_MS = 2_000;
const PID = "select pg_backend_pid()";
const REFUSED_SETTINGS = /^unsupported startup parameter/;

/**
 * Does a pooler stand between us and the server? It refuses our settings, or it makes up the number of the process behind
 * a connection. The first host that answers decides for all. False if none answers: the next connection then reports why.
 */
export async function hasPooler(driver: Driver, { hosts, startOptions }: ParsedUrl): Promise<boolean> {
  for (const host of hosts) {
    const found = await looksPooled(driver, { ...host, options: startOptions });
    if (found !== undefined) return found;
  }
  return false;
}

async function looksPooled(driver: Driver, host: ConnectionSettings): Promise<boolean | undefined> {
  const connection = new driver.Client({
    ...host,
    connectionTimeoutMillis: LIMIT_MS,
    query_timeout: LIMIT_MS,
  });
  connection.on("error", () => {});
  let isConnected = false;
  try {
    await connection.connect();
    isConnected = true;
    const { rows } = await connection.query({ text: PID, rowMode: "array" });
    return rows[0]?.[0] !== connection.processID;
  } catch (error) {
    // A pooler lets us in although it has no connection for us. To take a slow server for one is safe.
    if (isConnected) return true;
    return error instanceof Error && REFUSED_SETTINGS.test(error.message) ? true : undefined;
  } finally {
    connection.connection.stream.destroy();
  }
}
