/**
 * Models of the AI SDK. Decided here: how a prompt becomes one of theirs, and how their answer becomes ours, in each of their
 * versions that we support.
 */

export { type AiSdkOptions, aiSdk } from "./ai-sdk.ts";
export type { AiSdkModel } from "./language-model.ts";
