import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { errorMessage, MOST_BYTES, readClientMessage, toWire } from "../rpc/index.ts";

const NEW_LINE = 10;

/**
 * A client on standard input and output: one message per line. Ends when the input does, or with a line that is too
 * long. A message counts as delivered once the system has taken it.
 */
export class StdioClient implements Transport {
  onmessage: Transport["onmessage"];
  onclose: Transport["onclose"];
  onerror: Transport["onerror"];
  readonly #input: Readable;
  readonly #output: Writable;
  #pieces: Buffer[] = [];
  #length = 0;
  #closed = false;
  #left = false;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
  }

  /** Did the client close the connection? */
  get hasLeft(): boolean {
    return this.#left;
  }

  async start(): Promise<void> {
    this.#input.on("data", this.#onData);
    this.#input.on("end", this.#onEnd);
    this.#input.on("error", this.#onEnd);
    this.#output.on("error", this.#onEnd);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) throw new Error("the client has disconnected");
    await new Promise<void>((resolve, reject) => {
      this.#output.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#input.off("data", this.#onData);
    this.#input.off("end", this.#onEnd);
    this.#input.off("error", this.#onEnd);
    this.#input.pause();
    this.onclose?.();
  }

  readonly #onEnd = (): void => {
    this.#left = true;
    this.close().catch(() => {});
  };

  readonly #onData = (chunk: Buffer): void => {
    let rest = chunk;
    for (let at = rest.indexOf(NEW_LINE); at !== -1; at = rest.indexOf(NEW_LINE)) {
      this.#pieces.push(rest.subarray(0, at));
      rest = rest.subarray(at + 1);
      this.#receive(Buffer.concat(this.#pieces));
      this.#pieces = [];
      this.#length = 0;
    }
    this.#pieces.push(rest);
    this.#length += rest.length;
    if (this.#length > MOST_BYTES) this.#onEnd();
  };

  #receive(line: Buffer): void {
    if (this.#closed || isBlank(line)) return;
    const message = readClientMessage(line);
    if (message.kind !== "refused") this.onmessage?.(toWire(message));
    else if (message.id !== undefined)
      this.send(errorMessage(message.id, message.code, message.message)).catch(this.#onEnd);
  }
}

function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
