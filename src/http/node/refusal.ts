import { STATUS_CODES } from "node:http";
import { CountersignError, type ErrorCode, toProblem } from "../../protocol/index.ts";

/** A request that is refused before any route sees it. */
export interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
}

/** The answer for a parser error of Node, by its code; undefined if the client is gone. */
export function refusalOf(code: string | undefined): Refusal | undefined {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return {
        status: 431,
        code: "too-large",
        message: "The request headers are too large.",
      };
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return { status: 413, code: "too-large", message: "The request's chunk extensions are too large." };
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { status: 408, code: "too-slow", message: "The request did not arrive in time. Send it again." };
    case "ECONNRESET":
    case "EPIPE":
      return undefined;
    default:
      return {
        status: 400,
        code: "malformed-request",
        message: "The request is not valid HTTP/1.1.",
      };
  }
}

/** The whole answer, for a connection on which no response can be made. */
export function refusalText(refusal: Refusal): string {
  const body = problemText(refusal);
  return [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ""}`,
    "content-type: application/problem+json",
    "cache-control: no-store",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
    "",
    body,
  ].join("\r\n");
}

export function refusalResponse(refusal: Refusal): Response {
  const headers = { "content-type": "application/problem+json", "cache-control": "no-store" };
  return new Response(problemText(refusal), { status: refusal.status, headers });
}

function problemText({ status, code, message }: Refusal): string {
  return JSON.stringify(toProblem(new CountersignError(code, message), status));
}
