/**
 * The gate for tools of the AI SDK. Decided here: how a set of tools is wrapped; how a waiting call and its answer look in the
 * SDK's messages; and which buttons of `useChat` count as decisions. The rest is the same for all adapters (`thread-gate.ts`).
 */

export type { ButtonResult, ThreadOptions } from "../thread-gate.ts";
export type { GivenRule, ToolRule } from "../tool-rule.ts";
export {
  type GatedTools,
  type GateToolsOptions,
  gateTools,
  type Resumption,
} from "./gate-tools.ts";
