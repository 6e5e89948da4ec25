import { expect, test } from "vitest";
import { SessionQueue } from "./session-queue.ts";

test("work on one session runs in the order it came, one at a time", async () => {
  const queue = new SessionQueue();
  const log: string[] = [];
  let inside = 0;
  const work = (name: string) => async (): Promise<string> => {
    inside += 1;
    expect(inside).toBe(1);
    log.push(name);
    await Promise.resolve();
    inside -= 1;
    return name;
  };
  const results = await Promise.all(["a", "b", "c"].map((name) => queue.run("s", work(name))));
  expect(results).toEqual(["a", "b", "c"]);
  expect(log).toEqual(["a", "b", "c"]);
});

test("work on different sessions does not wait for each other", async () => {
  const queue = new SessionQueue();
  const { promise, resolve } = Promise.withResolvers<void>();
  const held = queue.run("a", () => promise);
  expect(await queue.run("b", async () => "through")).toBe("through");
  resolve();
  await held;
});

test("work that fails does not stop what stands behind it", async () => {
  const queue = new SessionQueue();
  const failing = queue.run("s", () => Promise.reject(new Error("no")));
  const next = queue.run("s", async () => "next");
  await expect(failing).rejects.toThrow("no");
  expect(await next).toBe("next");
});
