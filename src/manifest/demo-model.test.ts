import { expect, test } from "vitest";
import type { ModelRequest } from "../runtime/index.ts";
import { demoModel } from "./demo-model.ts";

const parameters = {
  type: "object",
  properties: { path: { type: "string" }, lines: { type: "integer" }, note: { type: "string" } },
};

async function callOf(text: string): Promise<unknown> {
  const request: ModelRequest = {
    contents: [{ role: "user", parts: [{ text }] }],
    tools: [{ name: "write_file", description: "Writes.", parameters }],
  };
  const { signal } = new AbortController();
  for await (const { parts } of demoModel().generate(request, { signal, stream: false })) {
    if (parts[0]?.functionCall !== undefined) return parts[0].functionCall.args;
  }
  return undefined;
}

test.each([
  ["write path=a.txt lines=3", { path: "a.txt", lines: 3, note: "path=a.txt" }],
  ["write notes.md 12 'so be it'", { path: "notes.md", lines: 12, note: "so be it" }],
  ['write to /etc/motd 1 note="two words"', { path: "/etc/motd", lines: 1, note: "two words" }],
  ['write "x"y.txt', { path: "x", lines: Number.NaN }],
])("reads %j", async (text, args) => {
  expect(await callOf(text)).toEqual(args);
});

test.each([
  ["letters without a blank", "x".repeat(400_000)],
  ["dots", ".".repeat(400_000)],
  ["blanks", " ".repeat(400_000)],
  ["quotes", "\"'".repeat(200_000)],
  ["slashes", "a/".repeat(200_000)],
])("takes time in proportion to the message: %s", async (_what, text) => {
  const began = performance.now();
  await callOf(`write ${text}`);
  // The square of this length would take minutes.
  expect(performance.now() - began).toBeLessThan(5_000);
});
