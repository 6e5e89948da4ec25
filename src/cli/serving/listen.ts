import type { App, Logger } from "../../http/index.ts";
import { type NodeServer, serve } from "../../http/node/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import type { ListenOptions } from "./serve-options.ts";

/** Opens the port. The server's own words do not know our flags. */
export async function listen(
  { host, port, trustProxy }: ListenOptions,
  app: App,
  logger: Logger,
): Promise<NodeServer> {
  try {
    return await serve({ app, host, port, trustProxy, logger });
  } catch (error) {
    if (codeOf(error) !== "EADDRINUSE") throw error;
    throw new CountersignError(
      "invalid-option",
      `Port ${port} on ${host} is in use. Choose another with --port N or COUNTERSIGN_PORT (0 picks a free port).`,
      { details: { field: "port" }, cause: error },
    );
  }
}

function codeOf(error: unknown): string | undefined {
  const { cause } = error as { readonly cause?: NodeJS.ErrnoException };
  return cause?.code;
}
