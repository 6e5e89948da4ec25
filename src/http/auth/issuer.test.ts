import { expect, test, vi } from "vitest";
import { loadJose } from "./issuer.ts";

test("without jose the error names the package to install", async () => {
  vi.doMock("jose", () => {
    throw new Error("Cannot find package 'jose'");
  });
  await expect(loadJose()).rejects.toMatchObject({
    code: "missing-package",
    message: expect.stringContaining("npm install jose") as string,
  });
  vi.doUnmock("jose");
});
