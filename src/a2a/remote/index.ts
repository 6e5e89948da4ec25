/**
 * A remote A2A agent as an agent of ours. Decided here: what is sent to it and when it is sent again; which of its
 * pauses become questions here, and how a person's answer is sent back; what is known when a connection breaks
 * (accepted, not accepted, perhaps); and when a remote task is canceled.
 */

export { type PeerHeaders } from "./peer.ts";
export { RemoteAgent, type RemoteAgentOptions } from "./remote-agent.ts";
