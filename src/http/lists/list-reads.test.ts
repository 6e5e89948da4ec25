import { expect, test } from "vitest";
import type { FoundStandby, Ledger, Lists, StandbyProblem } from "../../engine/index.ts";
import { createLedger } from "../../index.ts";
import { CountersignError, type ErrorCode } from "../../protocol/index.ts";
import { SILENT } from "../log.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { ListReads } from "./list-reads.ts";

const AS_OF = Date.parse("2026-11-17T14:03:05.000Z");

/** A ledger whose standbys give this, and what was asked of them. */
async function start(given?: (lists: Lists) => FoundStandby | StandbyProblem) {
  const ledger = await createLedger("memory:");
  const lists: Lists = await createLedger("memory:");
  const asked: number[] = [];
  const find = async (maxAgeMs: number): Promise<FoundStandby | StandbyProblem> => {
    asked.push(maxAgeMs);
    return given?.(lists) ?? "behind";
  };
  const whole: Ledger = given === undefined ? ledger : Object.assign(ledger, { standbys: { find } });
  const metrics = new Metrics();
  const warnings: string[] = [];
  const log = { ...SILENT, warn: (_facts: object, message: string) => void warnings.push(message) };
  const reads = new ListReads({ log, metrics, ledger: async () => whole });
  const outcomes = (): readonly unknown[] =>
    metrics.samples("listReads").map(({ labels, value }) => [labels["outcome"], value]);
  const whose = async (from: Lists) => ({ of: from === lists ? "standby" : "primary" });
  return { reads, lists, asked, warnings, outcomes, whose };
}

function failing(lists: Lists, code: ErrorCode) {
  return async (from: Lists): Promise<{ readonly of: string }> => {
    if (from === lists) throw new CountersignError(code, "It does not work.");
    return { of: "primary" };
  };
}

test("without standbys nothing is counted, and nothing says how old it is", async () => {
  const { reads, outcomes, whose } = await start();
  expect(await reads.read({ maxAge: 30 }, whose)).toEqual({ of: "primary" });
  expect(outcomes()).toEqual([]);
});

test("a standby is asked for what the caller allows, and the answer says as of when it is", async () => {
  const { reads, asked, outcomes, whose } = await start((lists) => ({ lists, asOf: AS_OF }));
  const answer = { of: "standby", asOf: "2026-11-17T14:03:05.000Z" };
  expect(await reads.read({}, whose)).toEqual(answer);
  expect(await reads.read({ maxAge: 30 }, whose)).toEqual(answer);
  expect(asked).toEqual([0, 30_000]);
  expect(outcomes()).toEqual([["standby", 2]]);
});

test("where there is none, or it fails, the primary answers; that is told once, and counted each time", async () => {
  const behind = await start(() => "behind");
  for (let i = 0; i < 3; i++) expect(await behind.reads.read({}, behind.whose)).toEqual({ of: "primary" });
  expect(behind.outcomes()).toEqual([["behind", 3]]);
  expect(behind.warnings).toEqual(["the standby is behind; lists are read from the primary"]);
  const { reads, lists, outcomes, warnings } = await start((found) => ({ lists: found, asOf: AS_OF }));
  for (const code of ["ledger-unreachable", "ledger-busy", "internal"] as const)
    expect(await reads.read({}, failing(lists, code))).toEqual({ of: "primary" });
  expect(outcomes()).toEqual([["failed", 3]]);
  expect(warnings).toHaveLength(1);
});

test("a request that is wrong is not tried again", async () => {
  const { reads, lists, outcomes } = await start((found) => ({ lists: found, asOf: AS_OF }));
  await expect(reads.read({}, failing(lists, "invalid-cursor"))).rejects.toMatchObject({
    code: "invalid-cursor",
  });
  expect(outcomes()).toEqual([]);
});
