import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, test, vi } from "vitest";
import { openGeminiServer } from "../test-support/gemini-server.ts";
import { ask } from "../test-support/questions.ts";
import { gemini } from "./index.ts";

const VARIABLES = ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_API_KEY"];
const ROOT = join(import.meta.dirname, "../../..");

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("the key", () => {
  test.each(VARIABLES)("is taken from %s", async (variable) => {
    await using server = await openGeminiServer();
    server.play({ pieces: [[{ text: "Hello." }]] });
    for (const other of VARIABLES) vi.stubEnv(other, other === variable ? "test-key" : undefined);
    expect(await ask(gemini("gemini-test", { baseUrl: server.url }))).toHaveLength(1);
  });

  test("that is nowhere is missed with the first question, not before", async () => {
    for (const variable of VARIABLES) vi.stubEnv(variable, undefined);
    const model = gemini("gemini-test");
    await expect(ask(model)).rejects.toMatchObject({
      code: "invalid-option",
      message: "Gemini models need an API key: set GEMINI_API_KEY, or pass `apiKey` to gemini().",
      details: { option: "apiKey", variables: VARIABLES },
    });
  });

  test("is enough even where the environment speaks of Vertex AI", async () => {
    await using server = await openGeminiServer();
    server.play({ pieces: [[{ text: "Hello." }]] });
    vi.stubEnv("GOOGLE_GENAI_USE_VERTEXAI", "true");
    vi.stubEnv("GOOGLE_CLOUD_PROJECT", "some-project");
    expect(await ask(gemini("gemini-test", { apiKey: "test-key", baseUrl: server.url }))).toHaveLength(1);
  });
});

test("without the package, importing works and asking says what to install", async () => {
  const folder = mkdtempSync(join(tmpdir(), "countersign-"));
  try {
    for (const part of ["protocol", "engine", "runtime", "models"]) {
      cpSync(join(ROOT, "src", part), join(folder, "src", part), { recursive: true });
    }
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(join(ROOT, "node_modules/@cfworker"), join(folder, "node_modules/@cfworker"));
    const script = `
      import { gemini } from "${folder}/src/models/gemini/index.ts";
      const options = { stream: false, signal: new AbortController().signal };
      try {
        for await (const chunk of gemini("gemini-test", { apiKey: "k" }).generate({ contents: [], tools: [] }, options));
      } catch ({ code, message, details }) {
        console.log(JSON.stringify({ code, message, details }));
      }`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]);
    expect(JSON.parse(stdout)).toEqual({
      code: "missing-package",
      message: "Gemini models need the package @google/genai. Run `npm install @google/genai`.",
      details: { package: "@google/genai" },
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("requests go out without Node's limit on silence, and with the headers asked for", async () => {
  await using server = await openGeminiServer();
  server.play({ pieces: [[{ text: "Hello." }]] });
  const symbol = Symbol.for("undici.globalDispatcher.1");
  const { dispatch } = (globalThis as unknown as { [symbol]: { dispatch: Dispatch } })[symbol];
  const seen: object[] = [];
  const dispatcher = (globalThis as unknown as { [symbol]: { dispatch: Dispatch } })[symbol];
  const spy = vi.spyOn(dispatcher, "dispatch").mockImplementation((options, handler) => {
    seen.push(options);
    return dispatch.call(dispatcher, options, handler);
  });
  const model = gemini("gemini-test", {
    apiKey: "test-key",
    baseUrl: server.url,
    headers: { "x-proxy": "a" },
  });
  await ask(model);
  spy.mockRestore();
  expect(seen).toMatchObject([{ headersTimeout: 0, bodyTimeout: 0 }]);
  expect(server.requests[0]?.headers).toMatchObject({ "x-proxy": "a" });
});

type Dispatch = (options: object, handler: unknown) => boolean;
