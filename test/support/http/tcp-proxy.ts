import { createServer, connect as dial, type Server, type Socket } from "node:net";

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** Silent for good. */
  isLost?: boolean;
}

/** Stands between a program and a server, and does to their connections what networks do. */
export class TcpProxy {
  readonly #server: Server;
  #targetPort: number;
  readonly #pairs = new Set<Pair>();
  #frozen = false;
  #toLose: { readonly text: string; readonly resolve: () => void; asked?: Pair } | undefined;
  #toSee: { readonly text: string; readonly resolve: () => void; asked?: Pair } | undefined;
  #onDial: (() => void) | undefined;

  private constructor(targetPort: number) {
    this.#targetPort = targetPort;
    this.#server = createServer((client) => this.#connect(client));
  }

  static async to(targetPort: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(targetPort);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  /** From now on new connections go there. */
  pointTo(targetPort: number): void {
    this.#targetPort = targetPort;
  }

  /** The same URL, through here. */
  through(url: string): string {
    const changed = new URL(url);
    changed.port = String(this.port);
    return changed.href;
  }

  get connections(): number {
    return this.#pairs.size;
  }

  /** Breaks all connections; new ones can be made. */
  cut(): void {
    for (const pair of this.#pairs) this.#break(pair);
  }

  /** From now on nothing passes, in either direction, and nobody is told. */
  freeze(): void {
    this.#frozen = true;
    for (const { client, server } of this.#pairs) {
      client.pause();
      server.pause();
    }
  }

  /** From now on the answers on connections that are there wait. */
  holdAnswers(): void {
    for (const { server } of this.#pairs) server.pause();
  }

  thaw(): void {
    this.#frozen = false;
    for (const { client, server, isLost } of this.#pairs) {
      if (isLost === true) continue;
      client.resume();
      server.resume();
    }
  }

  /** New connections pass; those that were there stay silent for good, as after a failover behind one address. */
  thawForNewOnly(): void {
    for (const pair of this.#pairs) pair.isLost = true;
    this.thaw();
  }

  /** Breaks the connection on which this is asked next, when the server has answered and before that has passed. */
  loseAnswerTo(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.#toLose = { text, resolve };
    });
  }

  /** Resolves when the server has answered what is asked with this text next, and the answer has passed. */
  answered(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.#toSee = { text, resolve };
    });
  }

  /** Resolves when somebody connects. */
  dialled(): Promise<void> {
    return new Promise((resolve) => {
      this.#onDial = resolve;
    });
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #connect(client: Socket): void {
    const server = dial(this.#targetPort, "127.0.0.1");
    const pair: Pair = { client, server };
    this.#pairs.add(pair);
    client.on("data", (data) => {
      if (this.#toLose !== undefined && data.includes(this.#toLose.text)) this.#toLose.asked = pair;
      if (this.#toSee !== undefined && data.includes(this.#toSee.text)) this.#toSee.asked = pair;
      server.write(data);
    });
    server.on("data", (data) => {
      if (this.#toLose?.asked !== pair) {
        client.write(data);
        if (this.#toSee?.asked === pair) this.#toSee.resolve();
        return;
      }
      const { resolve } = this.#toLose;
      this.#toLose = undefined;
      this.#break(pair);
      resolve();
    });
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on("error", () => this.#break(pair));
      socket.on("close", () => this.#break(pair));
    }
    if (this.#frozen) this.freeze();
    this.#onDial?.();
  }

  #break(pair: Pair): void {
    this.#pairs.delete(pair);
    pair.client.destroy();
    pair.server.destroy();
  }
}
