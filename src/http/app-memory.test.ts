import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { createEngine } from "../index.ts";
import { createApp } from "./index.ts";

const APPS = 100;
const MOST_BYTES_EACH = 10_000;

test("an app that nobody uses any more takes no memory: tenants are opened and closed for ever", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const engine = await createEngine({ ledger: "memory:" });
  const make = (count: number): void => {
    for (let n = 0; n < count; n += 1) createApp({ apps: {}, engine, publicUrl: "https://a.test" });
  };
  const used = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  try {
    make(20);
    const before = used();
    make(APPS);
    expect((used() - before) / APPS).toBeLessThan(MOST_BYTES_EACH);
  } finally {
    await engine.close();
  }
});
