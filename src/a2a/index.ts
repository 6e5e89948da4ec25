/**
 * A2A: our apps as A2A agents, and remote A2A agents as agents of ours. What is decided is in the folders: `messages` (what a
 * message means), `tasks` (a run as a task), `server` and `remote`.
 */

export { type PeerHeaders, RemoteAgent, type RemoteAgentOptions } from "./remote/index.ts";
export {
  type A2aApp,
  type A2aFacts,
  type A2aOptions,
  type A2aSecurity,
  createA2aApp,
} from "./server/index.ts";
