import { describe, expect, test } from "vitest";
import { type ModelSubject, modelContract, type ProviderPlay } from "../../runtime/models/model.contract.ts";
import {
  failure,
  type GeminiPlay,
  type GeminiServer,
  openGeminiServer,
} from "../test-support/gemini-server.ts";
import { gemini } from "./index.ts";

describe("gemini keeps the contract", () => {
  test.each(modelContract)("$name", async ({ run }) => {
    await using server = await openGeminiServer();
    await expect(run(createSubject(server))).resolves.toBeUndefined();
  });
});

function createSubject(server: GeminiServer): ModelSubject {
  return {
    model: gemini("gemini-test", { apiKey: "test-key", baseUrl: server.url }),
    provide: (...plays) => server.play(...plays.map(toPlay)),
    arrival: server.arrival,
  };
}

function toPlay(play: ProviderPlay): GeminiPlay {
  switch (play.kind) {
    case "text":
      return { pieces: play.pieces.map((text) => [{ text }]) };
    case "calls": {
      const text = play.text === undefined ? [] : [[{ text: play.text }]];
      const thought = play.sealed === true ? [[{ text: "**Paying**", thought: true }]] : [];
      const calls = play.calls.map(({ args, ...call }, index) => [
        {
          // On the wire a call without arguments has none.
          functionCall: Object.keys(args).length > 0 ? { ...call, args } : call,
          ...(play.sealed === true &&
            index === 0 && { thoughtSignature: "c2VhbA/+==", novelMember: { a: [1] } }),
        },
      ]);
      return { pieces: [...thought, ...text, ...calls] };
    }
    case "failure":
      return {
        reply: play.retryable
          ? failure(500, "INTERNAL", "An internal error has occurred.")
          : failure(404, "NOT_FOUND", "models/gemini-test is not found."),
      };
    case "silence":
      return { reply: { silence: true } };
    case "cut":
      return { pieces: [[{ text: play.piece }]], ending: "break" };
  }
}
