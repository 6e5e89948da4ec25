export type { A2aSecurity } from "./agent-card.ts";
export { type A2aApp, type A2aFacts, type A2aOptions, createA2aApp } from "./app.ts";
