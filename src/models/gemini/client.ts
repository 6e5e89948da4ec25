import type { GoogleGenAI } from "@google/genai";
import { CountersignError } from "../../protocol/index.ts";
import type { GeminiOptions } from "./options.ts";

const KEY_VARIABLES = ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_API_KEY"];

/** Loads Google's SDK, an optional package; does not connect yet. */
export async function openClient(options: GeminiOptions): Promise<GoogleGenAI> {
  const { GoogleGenAI } = await loadSdk();
  return new GoogleGenAI({
    apiKey: keyOf(options),
    vertexai: false,
    httpOptions: {
      ...(options.baseUrl !== undefined && { baseUrl: options.baseUrl }),
      ...(options.headers !== undefined && { headers: { ...options.headers } }),
    },
  });
}

async function loadSdk(): Promise<{ readonly GoogleGenAI: typeof GoogleGenAI }> {
  try {
    return await import("@google/genai");
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new CountersignError(
      "missing-package",
      "Gemini models need the package @google/genai. Run `npm install @google/genai`.",
      { details: { package: "@google/genai" }, cause: error },
    );
  }
}

function isMissing(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    error.code === "ERR_MODULE_NOT_FOUND" &&
    error.message.includes("'@google/genai'")
  );
}

function keyOf({ apiKey }: GeminiOptions): string {
  const key = [apiKey, ...KEY_VARIABLES.map((variable) => process.env[variable])].find(Boolean);
  if (key !== undefined) return key;
  throw new CountersignError(
    "invalid-option",
    "Gemini models need an API key: set GEMINI_API_KEY, or pass `apiKey` to gemini().",
    { details: { option: "apiKey", variables: KEY_VARIABLES } },
  );
}
