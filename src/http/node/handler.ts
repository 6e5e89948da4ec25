import type { IncomingMessage, ServerResponse } from "node:http";
import type { Problem } from "../../protocol/index.ts";
import type { App } from "../app.ts";
import { SILENT } from "../log.ts";
import { answerOf } from "./bridge.ts";
import { DEFAULT_LIMITS } from "./limits.ts";
import { sendResponse } from "./response.ts";

/** Options of {@link toNodeHandler}. */
export interface NodeHandlerOptions {
  /** How many of your proxies are in front. Default: 0. */
  readonly trustProxy?: number;
}

/** A handler of Express, Connect or plain `node:http`. */
export type NodeHandler = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  next?: (error?: unknown) => void,
) => void;

/**
 * Mounts an app in a Node server. It uses the full path of the request, wherever it is mounted, so pass that place to
 * `createApp` as `basePath`. A body that a parser has already read is taken from `request.body`. Requests without a
 * matching route go to `next`, if there is one.
 */
export function toNodeHandler(
  app: Pick<App, "fetch">,
  { trustProxy = 0 }: NodeHandlerOptions = {},
): NodeHandler {
  const answering = { fetch: app.fetch, proxies: trustProxy, log: SILENT };
  return (incoming, outgoing, next) => {
    const handled = async (): Promise<void> => {
      const response = await answerOf(answering, incoming, outgoing);
      if (next !== undefined && (await isUnknownRoute(response))) return next();
      await sendResponse(response, outgoing, DEFAULT_LIMITS.stalledMs).done;
    };
    handled().catch((error: unknown) => {
      if (next === undefined) outgoing.destroy();
      else next(error);
    });
  };
}

async function isUnknownRoute(response: Response): Promise<boolean> {
  const { status, headers } = response;
  if (status !== 404 || headers.get("content-type") !== "application/problem+json") return false;
  const { code } = (await response.clone().json()) as Problem;
  return code === "unknown-route";
}
