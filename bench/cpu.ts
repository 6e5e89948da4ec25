/** Keeps all work on the main thread, so that the CPU of compiler and garbage collector is that of the code that caused it. */
export const ONE_THREAD = "--single-threaded";

/** Microseconds of CPU that this process takes for the work. */
export async function cpuOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
