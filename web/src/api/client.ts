import { type Client, CountersignProblem, createClient } from "countersign/client";
import { setServerTime } from "../ui/clock.ts";
import { loggedIn, loginCount } from "./login-wall.ts";
import { proofHeaders } from "./proof.ts";

/** The base URL of the server, without a trailing slash: it may be mounted anywhere. */
export const base: string = new URL(".", document.baseURI).href.replace(/\/$/, "");

export const client: Client = createClient({ baseUrl: base, fetch: fetchKnown });

/**
 * Sends a request. On a 401 this waits for a login and then sends the same request again, with the same key: nothing
 * typed is lost, and nothing is done twice.
 */
async function fetchKnown(request: Request): Promise<Response> {
  for (;;) {
    const sent = request.clone();
    const logins = loginCount();
    // Read each time, because a new login of the same person has a new one.
    for (const [name, value] of Object.entries(proofHeaders())) sent.headers.set(name, value);
    const response = await fetch(sent);
    if (response.status !== 401) {
      // Once is enough to know how far this machine's clock is off.
      if (request.url === `${base}/v1/me`) setServerTime(Date.parse(response.headers.get("date") ?? ""));
      return response;
    }
    await loggedIn(logins);
  }
}

/** Asks the server for something that the client has no name for. */
export function send(
  path: string,
  { method = "GET", json }: { readonly method?: string; readonly json?: unknown } = {},
): Promise<Response> {
  const body =
    json === undefined ? {} : { body: JSON.stringify(json), headers: { "content-type": "application/json" } };
  return fetchKnown(new Request(`${base}/${path}`, { method, ...body }));
}

/** Why a request failed, for the user. */
export interface Problem {
  /** 0 where the server was not reached. */
  readonly status: number;
  readonly detail: string;
}

export type Outcome<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: Problem };

/** The result of a request; never rejects. */
export async function ask<Value>(asked: Promise<Value>): Promise<Outcome<Value>> {
  try {
    return { ok: true, value: await asked };
  } catch (error) {
    return { ok: false, problem: toProblem(error) };
  }
}

export function toProblem(error: unknown): Problem {
  if (!(error instanceof CountersignProblem)) {
    return { status: 0, detail: "The server cannot be reached. Check the connection and try again." };
  }
  const { status, message, hint } = error;
  return { status, detail: hint === undefined ? message : `${message} ${hint}` };
}
