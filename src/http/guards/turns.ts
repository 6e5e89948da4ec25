import type { MiddlewareHandler } from "hono";
import { isAnybody } from "../../engine/index.ts";
import type { HttpEnv } from "../env.ts";
import { isEventStream } from "../event-stream.ts";
import type { Turns } from "../turns.ts";

const READS: ReadonlySet<string> = new Set(["GET", "HEAD"]);
const GONE = 499;

/**
 * Answers a few reads of one caller at a time; their others wait. An answer may take many megabytes and a third of a second, so
 * a burst within the rate limit, or a caller who does not read the answers, would leave the others neither time nor
 * memory. A read takes its turn until it is sent, if the server says when; a stream only until it begins.
 */
export function takeTurns(
  turns: Turns,
  isExempt: (path: string, method: string) => boolean,
): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    const { path, method, raw } = context.req;
    const principal = context.get("principal");
    // What strangers may read is small.
    if (!READS.has(method) || isExempt(path, method) || isAnybody(principal)) return next();
    const leave = await turns.take(principal);
    if (raw.signal.aborted) {
      leave();
      return new Response(null, { status: GONE });
    }
    try {
      await next();
    } finally {
      const { whenSent } = context.env;
      if (whenSent === undefined || isEventStream(context.res)) leave();
      else whenSent(leave);
    }
    return undefined;
  };
}
