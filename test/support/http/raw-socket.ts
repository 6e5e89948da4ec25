import { connect, type Socket } from "node:net";

/** A connection that sends exactly what it is told, and keeps all that comes back. */
export class RawSocket {
  readonly socket: Socket;
  /** Resolves when the other side, or the system, has closed it. */
  readonly closed: Promise<void>;
  #received = "";
  #changed = Promise.withResolvers<void>();

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding("utf8").on("data", (text: string) => {
      this.#received += text;
      this.#announce();
    });
    // Whoever waits is told by the close that follows.
    socket.on("error", () => {});
    this.closed = new Promise((resolve) => {
      socket.once("close", () => {
        resolve();
        this.#announce();
      });
    });
  }

  static async open(port: number): Promise<RawSocket> {
    const socket = connect({ port, host: "127.0.0.1" });
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve).once("error", reject);
    });
    return new RawSocket(socket);
  }

  get received(): string {
    return this.#received;
  }

  send(text: string): void {
    this.socket.write(text);
  }

  /** Resolves when this has come; rejects if the connection closes without it. */
  async until(expected: string | RegExp): Promise<string> {
    const has = (): boolean =>
      typeof expected === "string" ? this.#received.includes(expected) : expected.test(this.#received);
    while (!has()) {
      if (this.socket.destroyed)
        throw new Error(`Closed without ${expected}; got ${this.#received.slice(0, 500)}`);
      await this.#changed.promise;
    }
    return this.#received;
  }

  /** Drops what has come so far. */
  forget(): void {
    this.#received = "";
  }

  close(): void {
    this.socket.destroy();
  }

  #announce(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}
