export {
  checkManifest,
  loadManifest,
  type ManifestAgent,
  type ManifestOptions,
  type ManifestReport,
  problemText,
} from "./load.ts";
export type { RemoteAgentDescription } from "./remote-agents.ts";
export type { ManifestProblem } from "./source.ts";
