import type { Confirmation } from "../../engine/index.ts";
import { member } from "../../protocol/index.ts";
import type { GateableServer, OpenRequest } from "./sdk.ts";

/** The SDK would give up a dialog after a minute; it ends with the wait. */
const DIALOG_MS = 24 * 3_600_000;

/** Shows a client that its call waits: by progress if it asked for that, and by opening the inbox if it can. */
export class WaitingClient {
  readonly #server: GateableServer["server"];
  readonly #request: OpenRequest;
  readonly #over = new AbortController();
  #told = 0;
  #shown = "";

  constructor(server: GateableServer["server"], request: OpenRequest) {
    this.#server = server;
    this.#request = request;
  }

  /** The call still waits for this question. */
  tell({ id, hint }: Confirmation, address: string | undefined): void {
    const { meta, notify } = this.#request;
    const progressToken = member(meta, "progressToken");
    if (progressToken !== undefined) {
      this.#told += 1;
      const message = `Waiting for a person's approval (${id}).`;
      // Progress only grows, and the tool's own begins at 0: ours grows below that.
      const params = { progressToken, progress: -1 / this.#told, message };
      // An unread notice does not matter.
      notify({ method: "notifications/progress", params }).catch(() => {});
    }
    if (address !== undefined && this.#shown !== id && this.#opensAddresses) {
      this.#shown = id;
      this.#open({ id, hint, address }).catch(() => {});
    }
  }

  /** The wait is over; an open dialog closes. */
  end(): void {
    this.#over.abort();
  }

  get #opensAddresses(): boolean {
    const { elicitation } = this.#server.getClientCapabilities() ?? {};
    return elicitation !== undefined && "url" in elicitation;
  }

  // The answer says only whether the user opens the address. The agent's own program sends it, so it decides nothing.
  async #open(question: {
    readonly id: string;
    readonly hint: string;
    readonly address: string;
  }): Promise<void> {
    const { id: elicitationId, hint: message, address: url } = question;
    const params = { mode: "url", message, url, elicitationId };
    const signal = AbortSignal.any([this.#over.signal, this.#request.signal]);
    const options = { signal, timeout: DIALOG_MS, relatedRequestId: this.#request.id };
    // The two packages' types of the same members.
    await this.#server.elicitInput(params as never, options as never);
  }
}
