export type { ButtonResult, ThreadOptions } from "../thread-gate.ts";
export type { GivenRule, ToolRule } from "../tool-rule.ts";
export {
  type GatedTools,
  type GateToolsOptions,
  gateTools,
  type Resumption,
} from "./gate-tools.ts";
