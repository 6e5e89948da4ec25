import type { CloseOptions } from "../../http/node/index.ts";
import { abandonWork } from "../abandon-work.ts";
import type { Invocation } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { Output } from "../output.ts";
import type { Stopping } from "../signals.ts";
import type { OpenSite } from "./open-site.ts";

// Whoever closes is done before the time is up, or the process ends without them.
const MARGIN_MS = 1_000;

/**
 * Serves until the process is asked to end, then answers for another `drainMs` while it says that it is not ready, and
 * waits for what runs, no longer than `graceMs`. What still runs then is left to the ledger: the lease is given up,
 * and it is taken over or told as unknown. A second signal ends the process at once; then the lease has to run out first.
 */
export async function runUntilStopped(
  invocation: Invocation,
  site: OpenSite,
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
