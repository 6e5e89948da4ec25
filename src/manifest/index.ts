/**
 * Agents written as files, in kagent's formats. Decided here: what a manifest may say, which member means what, and where a
 * problem is. The agents that come out are ordinary ones of `runtime`.
 */

export { problemText, type YamlProblem as ManifestProblem } from "../yaml/index.ts";
export {
  checkManifest,
  loadManifest,
  type ManifestAgent,
  type ManifestOptions,
  type ManifestReport,
} from "./load.ts";
export type { RemoteAgentDescription } from "./remote-agents.ts";
