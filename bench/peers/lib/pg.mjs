// A private PostgreSQL server for the run, as safe as in production: what is synced is synced.
import { databaseName, execute, PostgresServer } from "../../../test/support/postgres/server.ts";

export async function startPostgres() {
  const server = await PostgresServer.start();
  const admin = server.url("postgres");
  const [{ rows }] = await execute(admin, "show server_version");
  return {
    version: rows[0].server_version,
    async freshDb() {
      const name = databaseName();
      await execute(admin, `create database ${name}`);
      return server.url(name);
    },
    stop: () => server.stop(),
  };
}
