import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { createDatabase } from "../../../test/support/postgres/database.ts";
import { useResources } from "../../../test/support/resources.ts";

const resources = useResources();
const TIMEOUT_MS = 30_000;

/** What somebody writes who tries it: everything at the top level, and at the end it is closed. */
const SCRIPT = `
  import { createEngine, createLedger } from ${JSON.stringify(new URL("../../index.ts", import.meta.url).href)};
  const ledger = await createLedger(process.env.LEDGER);
  const engine = await createEngine({ ledger });
  const pay = engine.gate("pay", {}, async () => "paid");
  await pay({}, { key: "one", by: { id: "ana" } });
  await engine.close();
  console.log("closed");
`;

test(
  "a script that closes what it opened ends by itself, and is told nothing odd",
  async () => {
    const url = await createDatabase(resources);
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ["--input-type=module", "--eval", SCRIPT],
      { env: { ...process.env, LEDGER: url }, encoding: "utf8", timeout: TIMEOUT_MS },
    );
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "closed\n", stderr: "" });
  },
  TIMEOUT_MS,
);
