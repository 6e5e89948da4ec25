/**
 * An A2A agent elsewhere, as an agent of ours.
 * Decided here: what is sent to it and when it is sent again;
 * which of its pauses become questions here, and how a person's answer travels back;
 * what is known when a connection breaks (taken, not taken, perhaps);
 * and when a task there is called off.
 */

export { type PeerHeaders } from "./peer.ts";
export { RemoteAgent, type RemoteAgentOptions } from "./remote-agent.ts";
