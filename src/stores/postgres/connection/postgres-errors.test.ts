import { expect, test } from "vitest";
import { isGone, isTransient, toLedgerError } from "./postgres-errors.ts";

test("a connection without the statements that were prepared on it is replaced, and a pooler is named if none has them", () => {
  const error = Object.assign(new Error('prepared statement "countersign_1" does not exist'), {
    code: "26000",
  });
  expect([isGone(error), isTransient(error)]).toEqual([true, false]);
  expect(toLedgerError(error, "postgres://host/db")).toMatchObject({
    code: "ledger-unreachable",
    message: expect.stringContaining("?prepare=false") as unknown,
  });
});
