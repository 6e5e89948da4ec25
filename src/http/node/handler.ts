import type { IncomingMessage, ServerResponse } from "node:http";
import type { Problem } from "../../protocol/index.ts";
import type { App } from "../app.ts";
import { SILENT } from "../log.ts";
import { answerOf } from "./bridge.ts";
import { DEFAULT_LIMITS } from "./limits.ts";
import { sendResponse } from "./response.ts";

export interface NodeHandlerOptions {
  /** How many proxies of yours stand in front; none if nothing is said. */
  readonly trustProxy?: number;
}

/** A handler of Express, Connect or plain `node:http`. */
export type NodeHandler = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  next?: (error?: unknown) => void,
) => void;

/**
 * Mounts an app in a Node server. It goes by the whole path that the client asked for, wherever it is mounted, so give
 * `createApp` that place as `basePath`. A body that a parser has read already is taken from `request.body`. What the
 * app has no route for is left to `next`, where there is one.
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
