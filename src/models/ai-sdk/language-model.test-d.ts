import type { LanguageModelV2, LanguageModelV3, LanguageModelV4 } from "@ai-sdk/provider";
import type { AiSdkModel } from "./language-model.ts";

/** Compiles only if every specification of the AI SDK has the required shape. */
type Fits<T extends AiSdkModel> = T;

export type Specifications = [Fits<LanguageModelV2>, Fits<LanguageModelV3>, Fits<LanguageModelV4>];
