export type { A2aSecurity } from "./agent-card.ts";
export { type A2aApp, type A2aFacts, type A2aOptions, createA2aApp } from "./app.ts";
export type { PeerHeaders } from "./peer.ts";
export { RemoteAgent, type RemoteAgentOptions } from "./remote-agent.ts";
