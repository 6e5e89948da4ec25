/**
 * An app of ours, as an A2A agent.
 * Decided here: who may run, read and decide over A2A; what the agent card says, and to whom;
 * which requests and versions are understood;
 * and whether an answer names what was shown.
 * Decisions themselves are the engine's (`engine/decisions`).
 */

export { type A2aSecurity } from "./agent-card.ts";
export { type A2aApp, type A2aFacts, type A2aOptions, createA2aApp } from "./app.ts";
