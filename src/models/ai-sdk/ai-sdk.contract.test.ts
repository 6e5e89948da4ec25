import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAI as createOpenAI2 } from "@ai-sdk/openai-2";
import { createOpenAI as createOpenAI3 } from "@ai-sdk/openai-3";
import { describe, expect, test } from "vitest";
import type { Model } from "../../runtime/index.ts";
import { type ModelSubject, modelContract, type ProviderPlay } from "../../runtime/models/model.contract.ts";
import {
  failure,
  type OpenAiPlay,
  type OpenAiServer,
  openOpenAiServer,
} from "../test-support/openai-server.ts";
import { type AiSdkModel, aiSdk } from "./index.ts";

const PROVIDERS = { v4: createOpenAI, v3: createOpenAI3, v2: createOpenAI2 };
const WIRES = ["chat", "responses"] as const;

const SUBJECTS = Object.entries(PROVIDERS).flatMap(([version, create]) =>
  WIRES.map((wire) => ({
    version,
    wire,
    open: (baseURL: string): AiSdkModel => create({ baseURL, apiKey: "test-key" })[wire]("gpt-5"),
  })),
);

describe.each(SUBJECTS)(
  "aiSdk keeps the contract: specification $version, OpenAI's $wire",
  ({ open, version }) => {
    test("is of that specification", () => {
      expect(open("http://localhost").specificationVersion).toBe(version);
    });

    test.each(modelContract)("$name", async ({ run }) => {
      await using server = await openOpenAiServer();
      await expect(run(createSubject(server, open(server.url)))).resolves.toBeUndefined();
    });
  },
);

function createSubject(server: OpenAiServer, languageModel: AiSdkModel): ModelSubject {
  return {
    model: stateless(aiSdk(languageModel)),
    provide: (...plays) => server.play(...plays.map(toPlay)),
    arrival: server.arrival,
  };
}

/** OpenAI keeps no copy of the conversation: all of it, reasoning included, goes with each request. */
function stateless(model: Model): Model {
  const openai = { store: false, include: ["reasoning.encrypted_content"] };
  return {
    ...model,
    generate: (request, options) =>
      model.generate({ ...request, config: { providerOptions: { openai } } }, options),
  };
}

function toPlay(play: ProviderPlay): OpenAiPlay {
  switch (play.kind) {
    case "text":
      return { text: play.pieces };
    case "calls":
      return {
        ...(play.text !== undefined && { text: [play.text] }),
        ...(play.sealed === true && { sealed: true }),
        calls: play.calls.map(({ id = "", name, args }) => ({ id, name, arguments: JSON.stringify(args) })),
      };
    case "failure":
      return { reply: failure(play.retryable ? 500 : 404, "As asked.") };
    case "silence":
      return { reply: { silence: true } };
    case "cut":
      return { text: [play.piece], ending: "break" };
  }
}
