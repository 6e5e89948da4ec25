// An agent of Google's ADK, served over A2A as its own `toA2a` does, with the setting by which it takes the decisions
// that a peer relays. Says its address, and whenever its tool has run, as JSON lines.
import { writeSync } from "node:fs";
import { DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { agentCardHandler, jsonRpcHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import {
  A2AAgentExecutor,
  BaseLlm,
  FunctionTool,
  getA2AAgentCard,
  InMemorySessionService,
  LlmAgent,
} from "@google/adk";
import express from "express";

const say = (line) => writeSync(1, `${JSON.stringify(line)}\n`);

class Scripted extends BaseLlm {
  constructor() {
    super({ model: "scripted" });
  }

  async *generateContentAsync({ contents }) {
    const answer = contents.at(-1)?.parts?.find((part) => part.functionResponse)?.functionResponse;
    const part =
      answer === undefined
        ? { functionCall: { id: "call-1", name: "delete_file", args: { path: "a" } } }
        : { text: `The tool said ${JSON.stringify(answer.response)}` };
    yield { content: { role: "model", parts: [part] } };
  }

  async connect() {
    throw new Error("not live");
  }
}

const deleteFile = new FunctionTool({
  name: "delete_file",
  description: "Deletes a file.",
  parameters: { type: "OBJECT", properties: { path: { type: "STRING" } } },
  requireConfirmation: true,
  execute: ({ path }) => {
    say({ type: "deleted", path });
    return { status: "deleted" };
  },
});
const agent = new LlmAgent({ name: "adk_desk", model: new Scripted(), tools: [deleteFile] });

const app = express();
app.use(express.json());
const server = app.listen(0, "127.0.0.1", async () => {
  const url = `http://127.0.0.1:${server.address().port}`;
  const card = await getA2AAgentCard(agent, [{ url: `${url}/jsonrpc`, transport: "JSONRPC" }]);
  const executor = new A2AAgentExecutor({
    runner: { agent, appName: agent.name, sessionService: new InMemorySessionService() },
    runConfig: { allowRemoteToolConfirmation: true },
  });
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
  const userBuilder = UserBuilder.noAuthentication;
  app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
  app.use("/jsonrpc", jsonRpcHandler({ requestHandler, userBuilder }));
  say({ type: "listening", url });
});
process.stdin.on("close", () => process.exit());
process.stdin.resume();
