import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { unlessClosed } from "./unless-closed.ts";

test("is what the work comes to, and leaves no listener behind", async () => {
  const { signal } = new AbortController();
  expect(await unlessClosed(signal, Promise.resolve(7))).toBe(7);
  await expect(unlessClosed(signal, Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("rejects when it is closed meanwhile, or was closed before", async () => {
  const closing = new AbortController();
  const waiting = unlessClosed(closing.signal, new Promise(() => {}));
  closing.abort();
  await expect(waiting).rejects.toMatchObject({ code: "closed" });
  await expect(unlessClosed(closing.signal, new Promise(() => {}))).rejects.toMatchObject({ code: "closed" });
});
