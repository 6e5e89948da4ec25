import { Store, useStore } from "./store.ts";

const now = new Store(Date.now());

/** How far this machine's clock is from the server's, in milliseconds. */
let skewMs = 0;

/** Sets the clock by what the server says; a deadline is the server's to judge. */
export function setServerTime(at: number): void {
  skewMs = Number.isFinite(at) ? at - Date.now() : 0;
  now.set(serverNow());
}

export function serverNow(): number {
  return Date.now() + skewMs;
}

/** The longest that an answer may be old without a word about it. */
const UNSAID_MS = 5_000;

/** As of when an answer is that has just come, if that must be said. */
export function outdated(asOf: string | undefined): string | undefined {
  return asOf !== undefined && serverNow() - Date.parse(asOf) > UNSAID_MS ? asOf : undefined;
}

/** The time, once a second. */
export function useNow(): number {
  return useStore(now);
}

setInterval(() => now.set(serverNow()), 1000);
