import { Agent, type OutgoingHttpHeaders, request } from "node:http";
import { FULL } from "../../test/support/ledger/full-session.ts";

/** What a server answered. */
interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Speaks to one server over connections that stay open, with as little of its own as can be. */
export class Client {
  readonly #url: string;
  readonly #headers: OutgoingHttpHeaders;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(url: string, headers: OutgoingHttpHeaders = {}) {
    this.#url = url;
    this.#headers = headers;
  }

  /** Approves; gives the session and the call that now runs. */
  async approve(confirmation: string): Promise<{ readonly session: string; readonly callId: string }> {
    const path = `/v1/confirmations/${encodeURIComponent(confirmation)}/decision`;
    const { status, text } = await this.#send(path, { confirmed: true });
    if (status !== 200) throw new Error(`The decision was answered ${status}: ${text}`);
    return JSON.parse(text) as { session: string; callId: string };
  }

  /** Says something in a session; gives the confirmation that it led to, or nothing while the session is busy. */
  async say({
    user,
    session,
  }: {
    readonly user: string;
    readonly session: string;
  }): Promise<string | undefined> {
    const { status, text } = await this.#send("/run", {
      appName: FULL.app,
      userId: user,
      sessionId: session,
      newMessage: { role: "user", parts: [{ text: "And again, please." }] },
    });
    if (status === 409) return undefined;
    const asked = /"id":"([^"]+)","name":"adk_request_confirmation"/.exec(text)?.[1];
    if (asked === undefined) throw new Error(`The message was answered ${status}: ${text.slice(0, 500)}`);
    return asked;
  }

  /** Reads a page of the inbox; gives how many there were on it. */
  async inbox(query: string): Promise<number> {
    const { status, text } = await this.#send(`/v1/confirmations?limit=50${query}`);
    if (status !== 200) throw new Error(`The inbox was answered ${status}: ${text.slice(0, 500)}`);
    return (JSON.parse(text) as { readonly items: readonly unknown[] }).items.length;
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(path: string, body?: unknown): Promise<Answer> {
    const sent = body === undefined ? "" : JSON.stringify(body);
    const type = body === undefined ? {} : { "content-type": "application/json" };
    const headers = { ...this.#headers, ...type };
    return new Promise((resolve, reject) => {
      const method = body === undefined ? "GET" : "POST";
      const outgoing = request(this.#url + path, { agent: this.#agent, method, headers }, (incoming) => {
        let text = "";
        incoming.setEncoding("utf8");
        incoming.on("data", (piece: string) => {
          text += piece;
        });
        incoming.on("end", () => resolve({ status: incoming.statusCode ?? 0, text }));
        incoming.on("error", reject);
      });
      outgoing.on("error", reject);
      outgoing.end(sent);
    });
  }
}
