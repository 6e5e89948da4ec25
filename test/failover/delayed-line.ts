import { createServer, connect as dial, type Server, type Socket } from "node:net";

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

/** The line between a standby and its primary: what the primary sends arrives so many milliseconds later. */
export class DelayedLine {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  readonly #delayMs: number;
  #targetPort: number;

  private constructor(targetPort: number, delayMs: number) {
    this.#targetPort = targetPort;
    this.#delayMs = delayMs;
    this.#server = createServer((client) => this.#connect(client));
  }

  static async to(targetPort: number, delayMs: number): Promise<DelayedLine> {
    const line = new DelayedLine(targetPort, delayMs);
    await new Promise<void>((resolve) => line.#server.listen(0, "127.0.0.1", resolve));
    return line;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  pointTo(targetPort: number): void {
    this.#targetPort = targetPort;
  }

  /** What is on its way never arrives. */
  cut(): void {
    for (const pair of this.#pairs) this.#break(pair);
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #connect(client: Socket): void {
    const server = dial(this.#targetPort, "127.0.0.1");
    const pair = { client, server };
    this.#pairs.add(pair);
    client.on("data", (data) => server.write(data));
    server.on("data", (data) => {
      if (this.#delayMs === 0) client.write(data);
      else setTimeout(() => this.#pairs.has(pair) && client.write(data), this.#delayMs);
    });
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on("error", () => this.#break(pair));
      socket.on("close", () => this.#break(pair));
    }
  }

  #break(pair: Pair): void {
    this.#pairs.delete(pair);
    pair.client.destroy();
    pair.server.destroy();
  }
}
