import { FunctionTool, LlmAgent, Runner } from "@google/adk";
import type { JsonObject } from "../../../src/protocol/index.ts";
import type { AloneSubject } from "../../adapters/alone/alone.ts";
import type { AdapterHost, ModelCall, Progress, World } from "../../adapters/contract/subject.ts";
import {
  confirmed,
  type Message,
  noteTool,
  openSessions,
  PAY,
  requests,
  Scripted,
  SESSION,
  sessionOf,
} from "./subject.ts";

/** Google's ADK with its own `requireConfirmation`. */
export const alone: AloneSubject = {
  name: "google-adk alone",
  of: "google-adk",
  open: (world) => hostOf(world),
};

function hostOf(world: World): AdapterHost {
  const run = async (
    state: string,
    newMessage: Message | undefined,
    calls: readonly ModelCall[],
  ): Promise<Progress> => {
    const told: Record<string, string> = {};
    const sessionService = await openSessions(state);
    const pay = new FunctionTool({
      name: "pay",
      description: world.description,
      parameters: PAY as never,
      requireConfirmation: true,
      execute: (input: unknown) => world.pay(input as JsonObject),
    });
    const agent = new LlmAgent({
      name: "cashier",
      model: new Scripted(calls, told),
      tools: [pay, noteTool()],
    });
    const runner = new Runner({ appName: SESSION.appName, agent, sessionService });
    const before = (await sessionOf(sessionService)).events;
    const { userId, sessionId } = SESSION;
    const message = newMessage ?? confirmed(before);
    for await (const _event of runner.runAsync({ userId, sessionId, newMessage: message }));
    const { events } = await sessionOf(sessionService);
    const status = requests(events.slice(before.length)).length > 0 ? "paused" : "done";
    return { state: JSON.stringify(events), status, told };
  };
  const approve = (state: string): Promise<Progress> => run(state, undefined, []);
  return {
    send: (calls) => run("[]", { role: "user", parts: [{ text: "Pay." }] }, calls),
    resume: approve,
    forge: approve,
    cancel: async () => 0,
  };
}
