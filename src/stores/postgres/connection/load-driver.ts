import { CountersignError } from "../../../protocol/index.ts";
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
      "A PostgreSQL ledger needs the package pg. Run `npm install pg`.",
      { details: { package: "pg" }, cause },
    );
  }
}
