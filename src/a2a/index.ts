export { type PeerHeaders, RemoteAgent, type RemoteAgentOptions } from "./remote/index.ts";
export {
  type A2aApp,
  type A2aFacts,
  type A2aOptions,
  type A2aSecurity,
  createA2aApp,
} from "./server/index.ts";
