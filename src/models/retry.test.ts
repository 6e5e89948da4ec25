import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { systemClock } from "../engine/index.ts";
import { modelFailed, readRetryAfter } from "./failure.ts";
import { withRetries } from "./retry.ts";
import { createQuickClock } from "./test-support/questions.ts";

test("what is no failure of the model is thrown at once", async () => {
  const clock = createQuickClock();
  const mistake = new TypeError("x is not a function");
  const attempt = (): Promise<never> => Promise.reject(mistake);
  await expect(withRetries(attempt, { clock, signal: new AbortController().signal })).rejects.toBe(mistake);
  expect(clock.waits).toEqual([]);
});

test("an abort ends a wait on the real clock at once", async () => {
  const controller = new AbortController();
  const reason = new Error("Ana left.");
  const attempt = (): Promise<never> => {
    setImmediate(() => controller.abort(reason));
    return Promise.reject(modelFailed("Busy.", { status: 429, retryAfterMs: 60_000 }));
  };
  await expect(withRetries(attempt, { clock: systemClock, signal: controller.signal })).rejects.toBe(reason);
});

test("a process that waits to ask again does not end meanwhile", async () => {
  const script = `
    import { systemClock } from "${join(import.meta.dirname, "../engine/index.ts")}";
    import { modelFailed } from "${join(import.meta.dirname, "failure.ts")}";
    import { withRetries } from "${join(import.meta.dirname, "retry.ts")}";
    let tried = 0;
    const attempt = async () => {
      tried += 1;
      if (tried < 2) throw modelFailed("Busy.", { status: 503, retryAfterMs: 20 });
      return "answered";
    };
    console.log(await withRetries(attempt, { clock: systemClock, signal: new AbortController().signal }));`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]);
  expect(stdout).toBe("answered\n");
});

test.each([
  [{ "retry-after": "7" }, 7000],
  [{ "retry-after": "0.5" }, 500],
  [{ "retry-after-ms": "1250", "retry-after": "2" }, 1250],
  [{ "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }, 30_000],
  [{ "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }, 0],
  [{ "retry-after": "soon" }, undefined],
  [{ "retry-after": "" }, undefined],
  [{}, undefined],
])("the headers %o ask for %s ms", (headers: { readonly [name: string]: string }, expected) => {
  expect(readRetryAfter((name) => headers[name], Date.UTC(2026, 0, 1))).toBe(expected);
});
