export { type AiSdkOptions, aiSdk } from "./ai-sdk.ts";
export type { AiSdkModel } from "./language-model.ts";
