import { expect, test } from "vitest";
import { Engine } from "../../engine/index.ts";
import { createLedger } from "../../stores/index.ts";
import { McpGateway, McpToolset } from "../index.ts";

const server = { command: "never-started" };
const TYPO = { approvers: { role: ["ops"] } } as object;
const TEXT = { expiresInMs: "60000" } as object;
const refused = (option: string) =>
  expect.objectContaining({ code: "invalid-option", details: { option } }) as Error;

test("approvers and deadlines that cannot be are refused where they are written, not when the server is listed", async () => {
  const engine = new Engine({ ledger: await createLedger("memory:") });
  const by = { id: "ana" };
  for (const [options, option] of [
    [TYPO, "approvers"],
    [TEXT, "expiresInMs"],
  ] as const) {
    expect(() => new McpToolset({ name: "files", server, ...options })).toThrow(refused(option));
    expect(() => new McpGateway({ engine, name: "files", server, by, ...options })).toThrow(refused(option));
  }
  await engine.close();
});
