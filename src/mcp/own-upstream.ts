import type { Transport } from "@modelcontextprotocol/client";
import { CountersignError, type JsonObject } from "../protocol/index.ts";
import { describeServer, type McpServer, overHttp, overSse, stdio } from "./connection.ts";
import { type RequestOptions, Upstream } from "./upstream.ts";

/**
 * The gateway's own connection to the server, for what is due while no client is there. Made when it is needed, and
 * again after it was lost.
 */
export class OwnUpstream {
  readonly #server: McpServer;
  #upstream: Promise<Upstream> | undefined;
  /** Found out by trying, once, where nothing is said. */
  #isOld = false;

  constructor(server: McpServer) {
    this.#server = server;
    this.#isOld = "url" in server && server.transport === "sse";
  }

  /** Throws `invalid-option` where the server cannot be reached or does not say what its tools are. */
  async listTools(): Promise<readonly JsonObject[]> {
    const upstream = await this.#connected();
    return upstream.listTools();
  }

  async runTool(tool: string, args: JsonObject, options: RequestOptions): Promise<JsonObject> {
    const upstream = await this.#connected();
    return upstream.request("tools/call", { name: tool, arguments: args }, options);
  }

  /** A connection for a client of its own, of the kind that the server understands. */
  async another(): Promise<Transport> {
    if ("url" in this.#server && this.#server.transport === undefined) await this.#connected();
    return this.#open();
  }

  /** Ends the connection until it is needed again. */
  async rest(): Promise<void> {
    const upstream = this.#upstream;
    this.#upstream = undefined;
    // One that could not be made needs no closing.
    await upstream?.then((open) => open.close()).catch(() => {});
  }

  #connected(): Promise<Upstream> {
    this.#upstream ??= this.#connect().catch((cause: unknown) => {
      this.#upstream = undefined;
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new CountersignError(
        "invalid-option",
        `The MCP server ${describeServer(this.#server)} cannot be reached: ${why}`,
        { cause },
      );
    });
    return this.#upstream;
  }

  async #connect(): Promise<Upstream> {
    try {
      return await this.#introduced();
    } catch (error) {
      if (this.#isOld || "command" in this.#server || this.#server.transport === "http") throw error;
      // A server from before streamable HTTP refuses the first request; whatever else is wrong, SSE says it again.
      this.#isOld = true;
      return this.#introduced().catch(() => {
        this.#isOld = false;
        throw error;
      });
    }
  }

  async #introduced(): Promise<Upstream> {
    const upstream = new Upstream(this.#open());
    upstream.onClose = () => {
      this.#upstream = undefined;
    };
    try {
      await upstream.start();
      await upstream.introduce();
      return upstream;
    } catch (error) {
      await upstream.close().catch(() => {});
      throw error;
    }
  }

  #open(): Transport {
    const server = this.#server;
    if ("command" in server) return stdio(server, "inherit");
    return this.#isOld ? overSse(server) : overHttp(server);
  }
}
