import { aiSdkAlone } from "./ai-sdk.ts";
import type { AloneSubject } from "./alone.ts";
import { langchainAlone } from "./langchain.ts";
import { openaiAgentsAlone } from "./openai-agents.ts";

/** Every framework of the suite that has an approval of its own. */
export const ALONE: readonly AloneSubject[] = [aiSdkAlone, langchainAlone, openaiAgentsAlone];
