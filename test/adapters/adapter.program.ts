import { runProgram } from "./contract/run-program.ts";
import type { AdapterSubject } from "./contract/subject.ts";

/** By the subject's name. A process loads only the framework that it is about. */
const SUBJECTS: { readonly [name: string]: () => Promise<AdapterSubject> } = {
  callers: async () => (await import("./subjects/callers.ts")).callersSubject,
  "ai-sdk": async () => (await import("./subjects/ai-sdk.ts")).aiSdkSubject,
  langchain: async () => (await import("./subjects/langchain.ts")).langchainSubject,
  "openai-agents": async () => (await import("./subjects/openai-agents.ts")).openaiAgentsSubject,
  "mcp-server": async () => (await import("./subjects/mcp-server.ts")).mcpServerSubject,
  "mcp-server with ids": async () => (await import("./subjects/mcp-server.ts")).mcpServerIdsSubject,
  "ai-sdk alone": async () => (await import("./alone/ai-sdk.ts")).aiSdkAlone,
  "langchain alone": async () => (await import("./alone/langchain.ts")).langchainAlone,
  "openai-agents alone": async () => (await import("./alone/openai-agents.ts")).openaiAgentsAlone,
  "mcp-server alone": async () => (await import("./alone/mcp-server.ts")).mcpServerAlone,
};

await runProgram(async (name) => {
  const subject = await SUBJECTS[name]?.();
  if (subject === undefined) throw new Error(`There is no subject ${name}.`);
  return subject;
});
