import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Database, RunOptions } from "../connection/database.ts";
import { SchemaWatch } from "./schema-watch.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});

afterEach(() => {
  vi.useRealTimers();
});

test("a look on the way to a heartbeat waits out a lost connection, as the heartbeat does", async () => {
  const asked: (RunOptions | undefined)[] = [];
  const database = {
    name: "ledger",
    onUndefined: () => {},
    refuse: () => {},
    get: async (_text: string, _values: unknown, options?: RunOptions) => {
      asked.push(options);
      return [true];
    },
    all: async (_text: string, _values: unknown, options?: RunOptions) => {
      asked.push(options);
      return [];
    },
  };
  const watch = new SchemaWatch(database as unknown as Database);
  await watch.lookIfDue();
  expect(asked).toEqual([]);
  vi.advanceTimersByTime(20_000);
  await watch.lookIfDue().catch(() => {});
  expect(asked.map((options) => options?.patient ?? true)).toEqual([true, true]);
});
