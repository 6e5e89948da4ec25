import type { Context } from "hono";
import type { HttpEnv } from "./env.ts";
import { isEventStream } from "./event-stream.ts";
import { viewerKeyOf } from "./feed/feed-stream.ts";
import type { Site } from "./site.ts";

/**
 * Ends a stream of events when its reader's login has ended, or their rights have changed since it began: a run may take
 * hours, and a task may wait for days. Any other response stays as it is. `onLeft` stops whoever makes the events.
 */
export function heldToLogin(
  { auth, feed }: Pick<Site, "auth" | "feed">,
  context: Context<HttpEnv>,
  response: Response,
  onLeft: () => void = () => {},
): Response {
  const { body } = response;
  if (body === null || !isEventStream(response)) return response;
  const { raw } = context.req;
  const viewer = viewerKeyOf(context.get("principal"));
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
  let isOver = false;
  let checks: NodeJS.Timeout | undefined;
  const over = (): void => {
    isOver = true;
    clearInterval(checks);
  };
  const held = new ReadableStream<Uint8Array>({
    start: (controller) => {
      const check = async (): Promise<void> => {
        // If the check fails, the reader counts as not logged in.
        const now = await auth.authenticate(raw).catch(() => undefined);
        if (isOver || (now !== undefined && viewerKeyOf(now) === viewer)) return;
        over();
        controller.close();
        onLeft();
        await reader.cancel();
      };
      checks = setInterval(() => void check().catch(() => {}), feed.recheckMs).unref();
    },
    pull: async (controller) => {
      const next = await reader.read().catch((error: unknown) => ({ error }));
      if (isOver) return;
      if ("error" in next) controller.error(next.error);
      else if (next.done) controller.close();
      else return controller.enqueue(next.value);
      over();
    },
    cancel: async (reason) => {
      over();
      await reader.cancel(reason);
    },
  });
  return new Response(held, response);
}
