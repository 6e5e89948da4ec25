import { AsyncLocalStorage } from "node:async_hooks";
import { isJsonObject, type JsonObject, member } from "../../protocol/index.ts";

/** The part of either package's transports that is used here. */
interface Transport {
  start: () => Promise<void>;
  onmessage?: ((...received: unknown[]) => void) | undefined;
}

/** The JSON-RPC message that is being answered. */
const RECEIVED = new AsyncLocalStorage<unknown>();

/** Lets the tools of a server see what the client sent: the SDK gives them only what it has parsed. */
export function keepReceived(given: unknown): void {
  const transport = given as Transport;
  const start = transport.start.bind(transport);
  transport.start = () => {
    const { onmessage } = transport;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no other way
    transport.onmessage = (...received) =>
      RECEIVED.run(received[0], () => {
        onmessage?.apply(transport, received);
      });
    return start();
  };
}

/** The arguments of this request as the client sent them, if they are known. */
export function sentArguments(tool: string, requestId: unknown): JsonObject | undefined {
  const message = RECEIVED.getStore();
  if (!isJsonObject(message) || message["method"] !== "tools/call" || message["id"] !== requestId)
    return undefined;
  const { params } = message;
  if (!isJsonObject(params) || params["name"] !== tool) return undefined;
  const args = member(params, "arguments");
  // A transport within one process may leave members undefined.
  return isJsonObject(args) ? (JSON.parse(JSON.stringify(args)) as JsonObject) : {};
}
