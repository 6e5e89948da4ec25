import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { member } from "../../protocol/index.ts";
import { fieldsOf, type RequestId } from "../rpc/index.ts";

/** Tells a client that its call waits, if it asked to be told of progress. */
export class WaitingNotice {
  readonly id: RequestId;
  readonly token: RequestId | undefined;
  readonly #client: Transport;
  #told = 0;

  constructor(client: Transport, id: RequestId, token: RequestId | undefined) {
    this.#client = client;
    this.id = id;
    this.token = token;
  }

  tell(message: string): void {
    if (this.token === undefined) return;
    this.#told += 1;
    const params = { progressToken: this.token, progress: this.#told, message };
    // An unread notice does not matter.
    this.#client
      .send({ jsonrpc: "2.0", method: "notifications/progress", params }, { relatedRequestId: this.id })
      .catch(() => {});
  }

  /** The server's own progress, added to ours: for the client it is one call, whose progress only grows. */
  shifted(message: JSONRPCMessage): JSONRPCMessage {
    const { params } = fieldsOf(message);
    const offset = this.#told + 1;
    const [progress, total] = [member(params, "progress"), member(params, "total")];
    return {
      ...message,
      params: {
        ...params,
        ...(typeof progress === "number" ? { progress: progress + offset } : {}),
        ...(typeof total === "number" ? { total: total + offset } : {}),
      },
    };
  }
}
