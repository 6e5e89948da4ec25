import { expect, test } from "vitest";
import { CountersignProblem } from "../../client/index.ts";
import { persist } from "./persist.ts";

const suspended = new CountersignProblem(403, { code: "suspended" });
const busy = new CountersignProblem(503, { code: "ledger-busy" });
const refused = new CountersignProblem(403, { code: "forbidden" });

const PATIENT = { waitsForResumption: () => true };

/** Fails with these, one after the other, and then succeeds. */
function failing(...errors: readonly Error[]) {
  const left = [...errors];
  return async () => {
    const error = left.shift();
    if (error !== undefined) throw error;
    return "done";
  };
}

test("a report to a suspended tenant is sent again until it is taken, however few tries there are", async () => {
  let asked = 0;
  const waitsForResumption = () => {
    asked += 1;
    return true;
  };
  const report = persist(failing(suspended, suspended), { tries: 1, waitsForResumption });
  expect([await report, asked]).toEqual(["done", 2]);
});

test("what no longer waits for the resumption, and what never does, is refused", async () => {
  for (const more of [{}, { waitsForResumption: () => false }])
    await expect(persist(failing(suspended), { tries: 5, ...more })).rejects.toBe(suspended);
});

test("every other refusal is final, and a busy server is tried so often", async () => {
  await expect(persist(failing(refused), { tries: 5, ...PATIENT })).rejects.toBe(refused);
  await expect(persist(failing(busy, suspended, busy), { tries: 2, ...PATIENT })).rejects.toBe(busy);
});
