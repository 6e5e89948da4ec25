import { generateText, isStepCount, jsonSchema, type ModelMessage, tool } from "ai";
import type { JsonObject } from "../../../src/protocol/index.ts";
import {
  type AdapterHost,
  type ModelCall,
  PAY_SCHEMA,
  type Progress,
  type World,
} from "../contract/subject.ts";
import { scripted, type Told } from "../subjects/ai-sdk.ts";
import type { AloneSubject } from "./alone.ts";

/** The AI SDK with its own `needsApproval`. */
export const aiSdkAlone: AloneSubject = {
  name: "ai-sdk alone",
  of: "ai-sdk",
  open: (world) => hostOf(world),
};

const STEPS = 5;

function hostOf(world: World): AdapterHost {
  const pay = tool({
    description: world.description,
    inputSchema: jsonSchema<JsonObject>(PAY_SCHEMA as never),
    needsApproval: true,
    execute: (input) => world.pay(input),
  });
  const note = tool({
    inputSchema: jsonSchema<JsonObject>({ type: "object" }),
    execute: async (input) => input,
  });
  const generate = async (messages: ModelMessage[], calls: readonly ModelCall[]): Promise<Progress> => {
    const told: Told = {};
    const { responseMessages, content } = await generateText({
      model: scripted(calls, told),
      messages,
      tools: { pay, note },
      stopWhen: isStepCount(STEPS),
    });
    const paused = content.some(({ type }) => type === "tool-approval-request");
    return {
      state: JSON.stringify([...messages, ...responseMessages]),
      status: paused ? "paused" : "done",
      told,
    };
  };
  const approve = (state: string): Promise<Progress> => {
    const messages = JSON.parse(state) as ModelMessage[];
    const requests = messages.flatMap((message) =>
      typeof message.content === "string"
        ? []
        : message.content.filter((part) => part.type === "tool-approval-request"),
    );
    const content = requests.map(({ approvalId }) => {
      return { type: "tool-approval-response" as const, approvalId, approved: true };
    });
    return generate([...messages, { role: "tool", content }], []);
  };
  return {
    send: (calls) => generate([{ role: "user", content: "Pay." }], calls),
    resume: approve,
    forge: approve,
    cancel: async () => 0,
  };
}
