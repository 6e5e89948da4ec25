import type { AdapterSubject } from "../contract/subject.ts";
import { aiSdkSubject } from "./ai-sdk.ts";
import { callersSubject } from "./callers.ts";
import { langchainSubject } from "./langchain.ts";
import { mcpServerIdsSubject, mcpServerSubject } from "./mcp-server.ts";
import { openaiAgentsSubject } from "./openai-agents.ts";

/** Every adapter that the suite is run with. */
export const SUBJECTS: readonly AdapterSubject[] = [
  callersSubject,
  aiSdkSubject,
  langchainSubject,
  openaiAgentsSubject,
  mcpServerSubject,
  mcpServerIdsSubject,
];
