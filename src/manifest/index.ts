export { problemText, type YamlProblem as ManifestProblem } from "../yaml/index.ts";
export {
  checkManifest,
  loadManifest,
  type ManifestAgent,
  type ManifestOptions,
  type ManifestReport,
} from "./load.ts";
export type { RemoteAgentDescription } from "./remote-agents.ts";
