import { expect, test, vi } from "vitest";
import { loadJose, loadOAuth } from "./peers.ts";

test.each([
  ["jose", loadJose],
  ["oauth4webapi", loadOAuth],
])("without %s the error names the package to install", async (name, load) => {
  vi.doMock(name, () => {
    throw new Error(`Cannot find package '${name}'`);
  });
  await expect(load()).rejects.toMatchObject({
    code: "missing-package",
    message: expect.stringContaining(`npm install ${name}`) as string,
  });
  vi.doUnmock(name);
});
