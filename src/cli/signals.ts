/** A request to stop the process. */
export type StopSignal = "SIGINT" | "SIGTERM";

/** The exit code for a process that such a signal ended. */
export const SIGNAL_EXITS: Readonly<Record<StopSignal, number>> = { SIGINT: 130, SIGTERM: 143 };

/** The first signal shuts down in order; a second one ends the process at once. */
export interface Stopping {
  readonly requested: Promise<StopSignal>;
  /** Back to the default: a signal ends the process. */
  forget(): void;
}

/** Listens for SIGINT and SIGTERM, and in the process of a supervisor for its end. */
export function listenForStop(exitNow: (code: number) => never): Stopping {
  const { promise: requested, resolve } = Promise.withResolvers<StopSignal>();
  let asked = false;
  const onSignal = (signal: StopSignal): void => {
    if (asked) exitNow(SIGNAL_EXITS[signal]);
    asked = true;
    resolve(signal);
  };
  const onInterrupt = (): void => onSignal("SIGINT");
  const onTerminate = (): void => onSignal("SIGTERM");
  const onOrphaned = (): void => resolve("SIGTERM");
  process.on("SIGINT", onInterrupt);
  process.on("SIGTERM", onTerminate);
  process.on("disconnect", onOrphaned);
  // Does not keep the process alive.
  process.channel?.unref();
  return {
    requested,
    forget: () => {
      process.off("SIGINT", onInterrupt);
      process.off("SIGTERM", onTerminate);
      process.off("disconnect", onOrphaned);
    },
  };
}
