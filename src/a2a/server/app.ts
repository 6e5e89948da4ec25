import { AgentCard } from "@a2a-js/sdk";
import { LegacyRestTransportHandler } from "@a2a-js/sdk/compat/v0_3/server";
import { ServerCallContext } from "@a2a-js/sdk/server";
import { isAnybody, type Principal } from "../../engine/index.ts";
import { CountersignError, type ErrorCode, toProblem } from "../../protocol/index.ts";
import { Pace, type Runner } from "../../runtime/index.ts";
import { toA2aError } from "../messages/index.ts";
import { type A2aSecurity, agentCard } from "./agent-card.ts";
import { type HandlerOptions, RequestHandler } from "./request-handler.ts";
import { answerCall, readCall, rpcError } from "./rpc.ts";

/** Options of {@link createA2aApp}. */
export interface A2aOptions {
  /** The apps to serve, by their name in URLs. */
  readonly apps: { readonly [name: string]: Runner };
  /** The public URL for the cards. Default: the URL of each request. */
  readonly publicUrl?: string;
  /**
   * Accepts decisions from authenticated callers with the scope `decide`. Without this option, decisions are accepted
   * only if there is no login and the server therefore answers only this machine. An agent never decides.
   */
  readonly decisions?: boolean;
  /** How callers authenticate, for the cards; the server in front checks it. */
  readonly security?: A2aSecurity;
  /** The agents' version, for the cards. */
  readonly version?: string;
  /** Called for internal errors, which callers do not see. */
  readonly onError?: (error: unknown) => void;
}

/** What the server in front knows about a request. */
export interface A2aFacts {
  /** Who asks. */
  readonly principal: Principal;
  /** Aborts when this process is about to end. */
  readonly closing?: AbortSignal;
  /** Resolves when it is the caller's turn to read much, to what ends it. */
  readonly takeTurn?: () => Promise<() => void>;
}

/** Agents as A2A servers, as a function from request to response, to be mounted at `/a2a`. */
export interface A2aApp {
  readonly path: "/a2a";
  fetch(request: Request, facts: A2aFacts): Promise<Response>;
  /** Is this path (below the mount) public? The cards are. */
  isOpen(path: string): boolean;
}

const PLACE = /^(.*)\/a2a\/([^/]+)(\/\.well-known\/agent-card\.json)?\/?$/;

/** Serves apps over A2A, versions 1.0 and 0.3: `/a2a/{app}`, its card at `/a2a/{app}/.well-known/agent-card.json`. */
export function createA2aApp(options: A2aOptions): A2aApp {
  const apps = new Map(Object.entries(options.apps));
  const pace = new Pace();
  return {
    path: "/a2a",
    isOpen: (path) => {
      const [, above, , card] = PLACE.exec(path) ?? [];
      return above === "" && card !== undefined;
    },
    fetch: async (request, facts) => {
      const { pathname } = new URL(request.url);
      const [, above = "", name = "", card] = PLACE.exec(pathname) ?? [];
      const runner = apps.get(decoded(name));
      if (runner === undefined) {
        return problem(404, "unknown-app", `There is no A2A agent at ${pathname}.`);
      }
      const base = options.publicUrl?.replace(/\/+$/, "") ?? `${new URL(request.url).origin}${above}`;
      const handling = { ...handlerOptions(options, runner, `${base}/a2a/${name}`), pace };
      if (card !== undefined)
        return answerCard(request, facts, { ...handling, security: options.security ?? "none" });
      if (request.method !== "POST") {
        return problem(405, "method-not-allowed", "Send JSON-RPC by POST.");
      }
      return answerRpc(request, facts, handling);
    },
  };
}

function handlerOptions(options: A2aOptions, runner: Runner, url: string): Omit<HandlerOptions, "pace"> {
  const { security = "none", version = "1.0.0", decisions = false, onError = () => {} } = options;
  return {
    runner,
    decisions,
    report: onError,
    card: (whole) => agentCard({ runner, url, security, version, whole }),
  };
}

async function answerRpc(request: Request, facts: A2aFacts, options: HandlerOptions): Promise<Response> {
  const { principal, closing, takeTurn = noTurn } = facts;
  const signal = closing === undefined ? request.signal : AbortSignal.any([request.signal, closing]);
  try {
    const call = await readCall(request);
    const caller = { principal, optedIn: call.optedIn, signal, headers: request.headers, takeTurn };
    return await answerCall(call, new RequestHandler(options, caller));
  } catch (error) {
    return Response.json(rpcError("1.0", {}, toA2aError(error, options.report)));
  }
}

interface CardOptions extends HandlerOptions {
  readonly security: A2aSecurity;
}

async function answerCard(
  request: Request,
  { principal }: A2aFacts,
  options: CardOptions,
): Promise<Response> {
  if (request.method !== "GET" && request.method !== "HEAD") {
    return problem(405, "method-not-allowed", "Read the agent card with GET.");
  }
  // If there is a login, only authenticated callers see the agent's tools.
  const whole = options.security === "none" || !isAnybody(principal);
  const card = await options.card(whole);
  const headers = { vary: "A2A-Version, Authorization, Cookie", "cache-control": "no-cache" };
  const version = request.headers.get("a2a-version") ?? "0.3";
  if (!version.startsWith("0.")) return Response.json(AgentCard.toJSON(card), { headers });
  // The SDK's own translation; clients of 1.0 that do not say so find their interfaces in it, too.
  const signal = new AbortController().signal;
  const handler = new RequestHandler(
    { ...options, card: async () => card },
    { principal, optedIn: false, signal, headers: request.headers, takeTurn: noTurn },
  );
  const old = await new LegacyRestTransportHandler(handler).getAuthenticatedExtendedAgentCard(
    new ServerCallContext(),
  );
  return Response.json({ ...old, supportedInterfaces: card.supportedInterfaces }, { headers });
}

async function noTurn(): Promise<() => void> {
  return () => {};
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function problem(status: number, code: ErrorCode, message: string): Response {
  return Response.json(toProblem(new CountersignError(code, message), status), {
    status,
    headers: { "content-type": "application/problem+json" },
  });
}
