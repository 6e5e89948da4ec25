export {
  checkManifest,
  loadManifest,
  type ManifestAgent,
  type ManifestOptions,
  type ManifestReport,
  problemText,
} from "./load.ts";
export type { ManifestProblem } from "./source.ts";
