import type { Clock } from "../engine/index.ts";

/** How often a server looks whether something is due. */
const LOOK_MS = 10_000;

/**
 * Takes one turn after another, with a pause between, until it is stopped. Returns what stops it and waits for the turn
 * that runs.
 */
export function repeat(
  clock: Clock,
  turn: (signal: AbortSignal) => Promise<void>,
  onError: (error: unknown) => void,
): () => Promise<void> {
  const stop = new AbortController();
  const { signal } = stop;
  const turns = (async () => {
    while (!signal.aborted) {
      await turn(signal).catch(onError);
      await clock.sleepInBackground(LOOK_MS, signal);
    }
  })();
  return async () => {
    stop.abort();
    await turns;
  };
}
