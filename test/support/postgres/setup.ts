import type { TestProject } from "vitest/node";
import { migratePostgres } from "../../../src/stores/postgres/index.ts";
import { execute, PostgresServer } from "./server.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The URL of the server's first database, as its superuser. */
    readonly postgres: string;
  }
}

/** The database that others are copies of: an empty ledger. */
export const TEMPLATE = "countersign_template";

/** One server for all files of a project; each test makes databases of its own in it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await PostgresServer.start();
  project.provide("postgres", server.url("postgres"));
  await execute(server.url("postgres"), `create database ${TEMPLATE}`);
  await migratePostgres(server.url(TEMPLATE));
  return () => server.stop();
}
