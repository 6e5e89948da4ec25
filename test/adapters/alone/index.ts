import { aiSdkAlone } from "./ai-sdk.ts";
import type { AloneSubject } from "./alone.ts";
import { langchainAlone } from "./langchain.ts";
import { mcpServerAlone } from "./mcp-server.ts";
import { openaiAgentsAlone } from "./openai-agents.ts";

/** The frameworks among this package's own, with an approval of their own. */
export const ALONE: readonly AloneSubject[] = [aiSdkAlone, langchainAlone, openaiAgentsAlone, mcpServerAlone];
