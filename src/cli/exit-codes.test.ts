import { expect, test } from "vitest";
import { ERROR_CODES } from "../protocol/index.ts";
import { EXIT_CODES } from "./exit-codes.ts";

test("every error has an exit code, and none of them is success", () => {
  expect(Object.keys(EXIT_CODES).toSorted()).toEqual(Object.keys(ERROR_CODES).toSorted());
  for (const [code, exit] of Object.entries(EXIT_CODES)) expect(exit, code).toBeGreaterThan(0);
});
