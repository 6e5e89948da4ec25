import { CountersignError } from "../../protocol/index.ts";
import type { Driver } from "./driver.ts";

/** The package `pg`, which only this store needs. Throws `missing-package` where it is not installed. */
export async function loadDriver(): Promise<Driver> {
  try {
    const { Pool, Client } = await import("pg");
    const canPipeline = "pipeline" in new Client();
    return { Pool, Client, canPipeline } as unknown as Driver;
  } catch (cause) {
    throw new CountersignError(
      "missing-package",
      "A ledger on PostgreSQL needs the package pg: npm install pg",
      { details: { package: "pg" }, cause },
    );
  }
}
