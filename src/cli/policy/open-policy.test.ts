import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Ledger } from "../../engine/index.ts";
import { createLedger } from "../../index.ts";
import { type FollowedPolicy, openPolicy } from "./open-policy.ts";
import { listPolicyProblems } from "./policy-problems.ts";

const DENY = "rules: [{ id: a, then: deny }, { id: b, then: deny }]";

let folder: string;
let file: string;
let ledger: Ledger;
let followed: FollowedPolicy;
let told: string[];

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  folder = mkdtempSync(join(tmpdir(), "countersign-"));
  file = join(folder, "policy.yaml");
  writeFileSync(file, DENY);
  ledger = await createLedger("memory:");
  told = [];
  followed = openPolicy(file);
  followed.follow(ledger, {
    replaced: (_, version) => told.push(`replaced by ${version}`),
    broken: (_, message) => told.push(`broken: ${message.split(":").slice(-1)[0]?.trim()}`),
  });
});

afterEach(async () => {
  followed.stop();
  vi.useRealTimers();
  await ledger.close();
  rmSync(folder, { recursive: true, force: true });
});

function seconds(count: number): void {
  vi.advanceTimersByTime(1_000 * count);
}

async function problems(count: number): Promise<void> {
  await vi.waitFor(async () => expect(await listPolicyProblems(ledger)).toHaveLength(count));
}

test("a changed file judges from then on, and one that is the same does not", () => {
  const before = followed.policy.version;
  seconds(3);
  expect(told).toEqual([]);
  writeFileSync(`${file}.new`, "rules: [{ id: a, then: confirm }]");
  renameSync(`${file}.new`, file);
  seconds(3);
  expect(followed.policy.version).not.toBe(before);
  expect(told).toEqual([`replaced by ${followed.policy.version}`]);
});

test("a file that is still being written is not used, although its beginning is a policy with fewer rules", () => {
  const before = followed.policy.version;
  writeFileSync(file, "rules:\n  - { id: a, then: deny }\n");
  seconds(1);
  writeFileSync(file, "rules:\n  - { id: a, then: deny }\n  - { id: b, then: deny }\n");
  seconds(3);
  expect(followed.policy.version).toBe(before);
});

test.each([
  ["broken", "rules: [{ id: a, then: maybe }]"],
  ["empty", ""],
  ["with a test that fails", `${DENY}\ntests: [{ tool: x, expect: allow }]`],
])("a file that is %s keeps the rules of before, and says so", async (_, text) => {
  const before = followed.policy.version;
  writeFileSync(file, text);
  seconds(5);
  expect(followed.policy.version).toBe(before);
  expect(told).toEqual([expect.stringContaining("broken") as string]);
  await problems(1);
  writeFileSync(file, DENY);
  seconds(2);
  await problems(0);
});

test("a file that is gone keeps the rules of before, and says so", async () => {
  const before = followed.policy.version;
  rmSync(file);
  seconds(3);
  expect(followed.policy.version).toBe(before);
  expect(told).toHaveLength(1);
  await problems(1);
});

test("nothing starts with a file that cannot be used", () => {
  writeFileSync(file, "rules: 5");
  expect(() => openPolicy(file)).toThrow("policy.yaml:1:8: rules must be a list");
  rmSync(file);
  expect(() => openPolicy(file)).toThrow("Cannot read the policy");
});
