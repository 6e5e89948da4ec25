import type {
  Confirmation,
  DecisionInput,
  Engine,
  OnceKey,
  Principal,
  RefusedDecision,
  UsedUp,
} from "../engine/index.ts";
import { toConfirmation } from "../engine/index.ts";
import { CountersignError, type JsonValue } from "../protocol/index.ts";
import type { Channel } from "./channel.ts";
import { type ChannelPerson, toChannelPrincipal } from "./people.ts";

/** A request, with its exact bytes, which a medium signs. */
export interface InboundRequest {
  readonly method: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** The answer to a request: nothing, JSON, or a page with the policy of what it may load and run. */
export interface InboundAnswer {
  readonly status: number;
  readonly json?: JsonValue;
  readonly page?: { readonly html: string; readonly contentSecurityPolicy: string };
}

/**
 * Handles a request of the medium. Nobody has checked it: verify its signature before you read anything else. Answer an
 * invalid request; do not throw.
 */
export type Receive = (request: InboundRequest, approvals: ChannelApprovals) => Promise<InboundAnswer>;

/** Handles a request of somebody who is logged in. Throws a CountersignError for an invalid request. */
export type Serve = (request: InboundRequest, person: Principal) => Promise<InboundAnswer>;

/** How a decision from a channel ended. */
export type ChannelDecision =
  | { readonly ok: true; readonly confirmation: Confirmation }
  | Pick<RefusedDecision, "ok" | "code" | "message" | "field">;

/** How a person decides in a channel. */
export interface ChannelDeciding {
  /** Recorded with the decision; by default the channel's name. */
  readonly via?: string;
  /** What the decision uses up, in the same commit. */
  readonly uses?: UsedUp;
  /** The key of the request, in place of that: if the same request comes again, it decides nothing. */
  readonly once?: OnceKey;
}

/** What a channel can do for the people who answer in it. */
export interface ChannelApprovals {
  /** The confirmation as this person sees it; undefined if there is none. `can` says what they may do. */
  read(id: string, person: ChannelPerson): Promise<Confirmation | undefined>;
  /** Decides as this person. Resolves once committed. The version is the one that they saw. */
  decide(
    input: DecisionInput & { readonly version: number },
    person: ChannelPerson,
    deciding?: ChannelDeciding,
  ): Promise<ChannelDecision>;
  /** Journals that somebody tried to decide who may not: a person, or the name of somebody whom the configuration does not know. */
  refuse(id: string, who: ChannelPerson | string): Promise<void>;
}

/** The entries and routes of channels as one server, to be mounted: `createApp({ mounts: [inbound] })`. */
export interface Inbound {
  readonly path: string;
  /** Channels with routes. */
  readonly channels: readonly string[];
  /** Without a principal there are only entries. */
  fetch(request: Request, facts?: { readonly principal: Principal }): Promise<Response>;
  isOpen(path: string): boolean;
  takesRaw(path: string): boolean;
}

const PATH = "/channels";
const ENTRY = /\/channels\/([^/]+)\/([^/]+)$/;

/**
 * Lets the media of these channels call back, and people use the channels' routes. Decisions are made with this engine, by
 * the people who answer.
 */
export function createInbound(engine: Engine, channels: readonly Channel[]): Inbound {
  const entries = new Map<string, (request: InboundRequest) => Promise<InboundAnswer>>();
  const routes = new Map<string, Serve>();
  for (const { name, entries: own = {}, routes: ownRoutes = {} } of channels) {
    const approvals = createApprovals(engine, name);
    for (const [entry, receive] of Object.entries(own))
      entries.set(`${PATH}/${name}/${entry}`, (request) => receive(request, approvals));
    for (const [route, serve] of Object.entries(ownRoutes)) routes.set(`${PATH}/${name}/${route}`, serve);
  }
  const isEntry = (path: string): boolean => entries.has(path);
  return {
    path: PATH,
    channels: channels.filter((channel) => channel.routes !== undefined).map(({ name }) => name),
    isOpen: isEntry,
    takesRaw: isEntry,
    async fetch(request, facts) {
      // The server may be mounted below a path of its host.
      const [path = ""] = ENTRY.exec(new URL(request.url).pathname) ?? [];
      const [receive, serve] = [entries.get(path), routes.get(path)];
      const { method, headers } = request;
      const asked = { method, headers, body: new Uint8Array(await request.arrayBuffer()) };
      if (receive !== undefined) return toResponse(await receive(asked));
      if (serve !== undefined && facts !== undefined) return toResponse(await serve(asked, facts.principal));
      throw new CountersignError("unknown-route", "No channel has this entry.");
    },
  };
}

function toResponse({ status, json, page }: InboundAnswer): Response {
  if (page !== undefined) {
    const headers = {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": page.contentSecurityPolicy,
    };
    return new Response(page.html, { status, headers });
  }
  return json === undefined ? new Response(null, { status }) : Response.json(json, { status });
}

/** Makes all decisions of a channel, as a known person of kind `channel`. */
function createApprovals(engine: Engine, name: string): ChannelApprovals {
  return {
    async read(id, person) {
      const { confirmation, call, session } = (await engine.ledger.load({ confirmation: id })) ?? {};
      if (confirmation === undefined || call === undefined || session === undefined) return undefined;
      const counting = await engine.counting();
      return toConfirmation({ confirmation, call, session }, toChannelPrincipal(person), counting);
    },
    async decide(input, person, { via = name, uses, once } = {}) {
      const by = toChannelPrincipal(person);
      const outcome = await (once === undefined
        ? engine.decisions.decide(input, { by, via }, undefined, uses)
        : engine.decisions.decideOnce(input, { by, via }, once));
      if (outcome.ok) return { ok: true, confirmation: toConfirmation(outcome, by) };
      const { code, message, field } = outcome;
      return { ok: false, code, message, ...(field === undefined ? {} : { field }) };
    },
    async refuse(id, who) {
      const by =
        typeof who === "string"
          ? { ...toChannelPrincipal({ id: who }), scopes: [], authenticated: false }
          : toChannelPrincipal(who);
      const tried = { code: "not-an-approver", what: "decide" } as const;
      await engine.decisions.noteRefusal({ confirmation: id }, tried, { by, via: name });
    },
  };
}
