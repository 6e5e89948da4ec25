import { expect, test } from "vitest";
import { CountersignError } from "./countersign-error.ts";
import { toProblem } from "./problem.ts";

test("a CountersignError keeps its message, with its field and hint", () => {
  const details = { field: "payload.days", hint: "Send a number." };
  const error = new CountersignError("payload-mismatch", "payload.days is missing.", { details });
  expect(toProblem(error, 422)).toEqual({
    type: "urn:countersign:error:payload-mismatch",
    title: "The payload does not match the schema of the confirmation.",
    status: 422,
    detail: "payload.days is missing.",
    code: "payload-mismatch",
    field: "payload.days",
    hint: "Send a number.",
  });
});

test("a refusal from a parser names its path as the field", () => {
  const refusal = { ok: false, code: "malformed-request", message: "parts must be an array.", path: "parts" };
  expect(toProblem(refusal, 400)).toMatchObject({ code: "malformed-request", field: "parts", status: 400 });
});

test.each<[string, unknown]>([
  ["a foreign error", new TypeError("secret at /etc/passwd")],
  ["a foreign error that borrows a code", Object.assign(new Error("secret"), { code: "expired" })],
  ["a system error", Object.assign(new Error("secret"), { code: "ENOENT" })],
  ["an inherited code", { code: "toString", message: "secret" }],
  ["a text", "secret"],
  ["nothing", undefined],
])("%s becomes internal and nothing of it is echoed", (_, error) => {
  const problem = toProblem(error, 500);
  expect(problem.code).toBe("internal");
  expect(JSON.stringify(problem)).not.toContain("secret");
});
