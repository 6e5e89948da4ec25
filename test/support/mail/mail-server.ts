import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { SMTPServer, type SMTPServerDataStream } from "smtp-server";
import type { RecipientPlay } from "../../../src/channels/channel.contract.ts";

/** A mail as it arrived. */
export interface ReceivedMail {
  readonly to: readonly string[];
  /** As on the wire. */
  readonly raw: string;
  /** By lower-case name; a name that occurs twice is a list of its values. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  /** The decoded parts: text, then HTML. */
  readonly parts: readonly string[];
}

/** A real SMTP server that does with mails what a test says. */
export class MailServer {
  readonly received: ReceivedMail[] = [];
  readonly #sockets = new Set<Socket>();
  #smtp: SMTPServer | undefined;
  #flood: Server | undefined;
  #port = 0;
  play: RecipientPlay = { kind: "accept" };
  /** With what the sender is refused. */
  senderRefusal: number | undefined;
  /** Mailboxes that do not exist. */
  missing: ReadonlySet<string> = new Set();
  /** What the server refuses for good, by the subject. */
  refuses: (subject: string) => boolean = () => false;
  /** Mailboxes about which the server never answers, and how often it was asked. */
  silent: ReadonlySet<string> = new Set();
  unanswered = 0;
  /** How many connections there have been. */
  connections = 0;

  get url(): string {
    return `smtp://mailer:pass%20word@127.0.0.1:${this.#port}`;
  }

  async set(play: RecipientPlay): Promise<void> {
    await this.close();
    this.play = play;
    if (play.kind === "flood") await this.#listenFlood();
    else if (play.kind !== "absent") await this.listen();
  }

  async listen(host = "127.0.0.1"): Promise<this> {
    if (this.#smtp !== undefined) return this;
    const smtp = new SMTPServer({
      disabledCommands: ["STARTTLS"],
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, done) =>
        username === "mailer" && password === "pass word"
          ? done(null, { user: username })
          : done(new Error("No.")),
      onMailFrom: (_address, _session, done) => done(this.#refusal()),
      onRcptTo: ({ address }, _session, done) => {
        if (this.silent.has(address)) this.unanswered += 1;
        else done(this.missing.has(address) ? refusal(550) : null);
      },
      onData: (stream, session, done) => {
        const to = session.envelope.rcptTo.map(({ address }) => address);
        this.#take(stream, to, done).catch(done);
      },
    });
    smtp.on("error", () => {});
    smtp.server.on("connection", (socket: Socket) => {
      this.connections += 1;
      this.#sockets.add(socket);
    });
    smtp.listen(this.#port, host);
    await once(smtp.server, "listening");
    this.#smtp = smtp;
    this.#port = (smtp.server.address() as AddressInfo).port;
    return this;
  }

  async #listenFlood(): Promise<void> {
    const server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      const more = (): void => {
        while (socket.write(`220-${"x".repeat(500)}\r\n`.repeat(100)));
        socket.once("drain", more);
      };
      more();
    });
    server.listen(this.#port, "127.0.0.1");
    await once(server, "listening");
    this.#flood = server;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
    const [smtp, flood] = [this.#smtp, this.#flood];
    this.#smtp = undefined;
    this.#flood = undefined;
    if (smtp !== undefined) await new Promise<void>((resolve) => smtp.close(() => resolve()));
    if (flood !== undefined) await new Promise<void>((resolve) => flood.close(() => resolve()));
  }

  #refusal(): Error | null {
    if (this.senderRefusal !== undefined) return refusal(this.senderRefusal);
    if (this.play.kind === "fail") return refusal(451);
    return this.play.kind === "busy" ? refusal(421) : null;
  }

  async #take(
    stream: SMTPServerDataStream,
    to: readonly string[],
    done: (error?: Error | null) => void,
  ): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks).toString();
    const headers = headersOf(raw);
    if (this.refuses(String(headers.get("subject")))) return done(refusal(554));
    this.received.push({ to, raw, headers, parts: partsOf(raw) });
    if (this.play.kind === "silence") return;
    if (this.play.kind === "hang up") for (const socket of this.#sockets) socket.destroy();
    else done();
    if (this.play.kind === "answer twice")
      for (const socket of this.#sockets) socket.write("250 2.0.0 OK\r\n");
  }
}

function refusal(responseCode: number): Error {
  return Object.assign(new Error("Not now, not here: secret-detail"), { responseCode });
}

function headersOf(text: string): ReadonlyMap<string, readonly string[]> {
  const [head = ""] = text.split("\r\n\r\n");
  const headers = new Map<string, string[]>();
  for (const line of head.replace(/\r\n[ \t]+/g, " ").split("\r\n")) {
    const at = line.indexOf(":");
    const name = line.slice(0, at).toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), line.slice(at + 1).trim()]);
  }
  return headers;
}

function partsOf(raw: string): readonly string[] {
  const [, boundary = ""] = /boundary="?([^";\r\n]+)"?/.exec(raw) ?? [];
  return raw
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => {
      const body = part.trimStart().split("\r\n\r\n").slice(1).join("\r\n\r\n");
      const [encoding] = headersOf(part.trimStart()).get("content-transfer-encoding") ?? [];
      if (encoding === "base64") return Buffer.from(body, "base64").toString();
      return encoding === "quoted-printable" ? fromQuotedPrintable(body) : body;
    });
}

function fromQuotedPrintable(text: string): string {
  const bytes = text
    .replace(/=\r\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_match, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString();
}
