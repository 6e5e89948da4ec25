import { expect, test } from "vitest";
import { watch } from "../../engine/testing/execution.ts";
import { createLedger } from "../../stores/index.ts";
import { CallKeys } from "./call-keys.ts";

const told = (): Promise<void> => Promise.resolve();

async function scene() {
  const watched = watch(await createLedger("memory:"));
  const keys = new CallKeys(watched.ledger, "mcp:peer");
  const open = async (): Promise<number> => (await keys.open("write", { path: "a" })).round;
  return { watched, keys, open };
}

test("equal calls are one call until its outcome is delivered, in whichever process they are made", async () => {
  const { watched, keys, open } = await scene();
  const key = await keys.open("write", { path: "a" });
  expect([key.round, await open()]).toEqual([1, 1]);
  await keys.deliver(key, told);
  expect(await open()).toBe(2);
  const restarted = new CallKeys(watched.ledger, "mcp:peer");
  expect((await restarted.open("write", { path: "a" })).round).toBe(2);
});

test("a call that comes while the outcome is delivered, or before that is stored, is a new one", async () => {
  const { watched, keys, open } = await scene();
  const key = await keys.open("write", { path: "a" });
  const storing = Promise.withResolvers<void>();
  watched.intercept("items.put", async (pass) => storing.promise.then(pass));
  const seen: number[] = [];
  const delivered = keys.deliver(key, async () => void seen.push(await open()));
  await expect.poll(() => seen).toEqual([2]);
  expect(await open()).toBe(2);
  storing.resolve();
  await delivered;
  expect(await open()).toBe(2);
});

test("one that was looked up before the outcome was stored does not forget it", async () => {
  const { watched, keys, open } = await scene();
  const key = await keys.open("write", { path: "a" });
  const reading = Promise.withResolvers<void>();
  watched.intercept("items.get", async (pass) => {
    const found = await pass();
    await reading.promise;
    return found;
  });
  let looked: Promise<number> | undefined;
  const delivered = keys.deliver(key, async () => {
    looked = open();
    watched.lift("items.get");
  });
  await delivered;
  reading.resolve();
  expect(await looked).toBe(2);
});

test("an outcome that could not be delivered is not told", async () => {
  const { keys, open } = await scene();
  const key = await keys.open("write", { path: "a" });
  const gone = keys.deliver(key, () => Promise.reject(new Error("gone")));
  await expect(gone).rejects.toThrow("gone");
  expect(await open()).toBe(1);
});

test("an outcome that two clients get moves the key on once", async () => {
  const { keys, open } = await scene();
  const [one, two] = [await keys.open("write", { path: "a" }), await keys.open("write", { path: "a" })];
  await keys.deliver(one, told);
  await keys.deliver(two, told);
  expect(await open()).toBe(2);
  await keys.deliver(await keys.open("write", { path: "a" }), told);
  expect(await open()).toBe(3);
});
