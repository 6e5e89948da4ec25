import { expect, test } from "vitest";
import { parseTaskId, taskIdOf } from "./task-id.ts";

const REF = { session: "01kfe0", seq: 12, invocation: "e-01kfe1" };

test("an id says where the run is, and is read back as it was", () => {
  expect(parseTaskId(taskIdOf(REF))).toEqual(REF);
});

test.each([
  "",
  "x",
  "01kfe0.e-1",
  "01kfe0.0.e-1",
  "01kfe0.012.e-1",
  "01kfe0.-1.e-1",
  "01kfe0.1e3.e-1",
  "01kfe0.12.e-1.x",
  "01kfe0.12.",
  "../12.e-1",
  "01kfe0.12345678901234567.e-1",
])("%j is no task", (text) => {
  expect(parseTaskId(text)).toBeUndefined();
});
