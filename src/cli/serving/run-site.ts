import type { CloseOptions } from "../../http/node/index.ts";
import { abandonWork } from "../abandon-work.ts";
import type { Invocation } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { Output } from "../output.ts";
import type { Stopping } from "../signals.ts";
import type { ListeningSite } from "./open-site.ts";

// Closing must finish in this time, or the process exits without it.
const MARGIN_MS = 1_000;

/**
 * Serves until the process is asked to stop. Then it answers for another `drainMs` while it is not ready, and waits up
 * to `graceMs` for running calls. After that it releases the lease, and other processes take the calls over or mark
 * them unknown. A second signal ends the process at once; then the lease must expire first.
 */
export async function runUntilStopped(
  invocation: Invocation,
  site: ListeningSite,
  { stopping, graceMs, drainMs }: Required<CloseOptions> & { readonly stopping: Stopping },
): Promise<number> {
  const { exitNow, flags, env } = invocation;
  const output = flags.has("json") ? new Output(process.stderr, env) : invocation.output;
  const signal = await stopping.requested;
  output.line();
  output.line(`${signal}: waiting for running calls (send it again to stop at once)`);
  const { promise: timeout, resolve } = Promise.withResolvers<"late">();
  const timer = setTimeout(resolve, drainMs + graceMs + MARGIN_MS, "late");
  const ended = await Promise.race([site.close({ graceMs, drainMs }).then(() => "closed" as const), timeout]);
  clearTimeout(timer);
  if (ended === "late") {
    output.prose(
      "Some calls are still running. Another server takes them over, or `countersign pending` shows them as unknown.",
    );
    await abandonWork(site);
    exitNow(EXIT.ok);
  }
  output.line("Stopped.");
  stopping.forget();
  return EXIT.ok;
}
