import { unreached } from "../failures.ts";
import type { Batch, Target, Written } from "./target.ts";

/** Answers about what was sent. All others are about this moment, the login or the address. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 415, 422]);
const SECONDS = /^\d{1,9}$/;

/** Posts batches of JSON lines. Any 2xx means that they are safe; everything else is tried again. */
export class HttpTarget implements Target {
  readonly #url: URL;
  readonly #authorization: string | undefined;

  constructor(url: URL, authorization: string | undefined) {
    this.#url = url;
    this.#authorization = authorization;
  }

  async write({ lines }: Batch, signal: AbortSignal): Promise<Written> {
    const { origin } = this.#url;
    let response: Response;
    try {
      response = await fetch(this.#url, {
        method: "POST",
        redirect: "manual",
        headers: {
          "content-type": "application/x-ndjson",
          "user-agent": "countersign",
          ...(this.#authorization === undefined ? {} : { authorization: this.#authorization }),
        },
        body: `${lines.join("\n")}\n`,
        signal,
      });
    } catch (error) {
      return { ok: false, reason: `${origin} ${unreached(error, signal)}.` };
    }
    // The answer's body is not needed, and could be endless.
    await response.body?.cancel().catch(() => {});
    if (response.ok) return { ok: true };
    const wait = response.headers.get("retry-after") ?? "";
    return {
      ok: false,
      reason: `${origin} answered ${response.status}.`,
      ...(SECONDS.test(wait) ? { retryAfterMs: Number(wait) * 1_000 } : {}),
      ...(REFUSALS.has(response.status) ? { isRefused: true } : {}),
    };
  }

  async check(): Promise<readonly string[]> {
    return [];
  }
}
