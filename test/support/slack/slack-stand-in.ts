import { createHmac, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RecipientPlay } from "../../../src/channels/channel.contract.ts";
import { LoopbackServer } from "../http/loopback-server.ts";
import { answerTwice } from "../http/webhook-receiver.ts";
import { faultOf } from "./limits.ts";

export type Json = { readonly [name: string]: unknown };

/** A message as Slack keeps it. */
export interface SlackMessage {
  readonly channel: string;
  readonly ts: string;
  readonly type: "message";
  readonly user: string;
  readonly bot_id: string;
  readonly app_id: string;
  readonly text: string;
  readonly blocks: readonly Json[];
  readonly metadata?: Json;
  readonly thread_ts?: string;
  readonly edited?: { readonly user: string; readonly ts: string };
}

export const WORKSPACE = {
  team: "T0001",
  app: "A0001",
  token: "xoxb-stand-in-token",
  signingSecret: "8f742231b10e8888abcd99yyyzzz85a5",
  bot: "U0BOT",
  room: "C0001",
} as const;

/** A call of the API that was taken. */
interface ApiCall {
  readonly method: string;
  readonly args: Json;
}

/** A server that speaks the part of Slack's Web API that we use, and presses buttons as people do. */
export class SlackStandIn extends LoopbackServer {
  readonly calls: ApiCall[] = [];
  readonly views: Json[] = [];
  readonly #messages: SlackMessage[] = [];
  #count = 0;
  play: RecipientPlay = { kind: "accept" };
  /** What is played for single methods in place of that. */
  readonly plays = new Map<string, RecipientPlay>();
  users: ReadonlySet<string> = new Set(["U0ANA", "U0BOB", "U0MEG"]);
  /** What users.info says of somebody in place of what it says of a usual member. */
  readonly oddities = new Map<string, Json>();
  scopes = "chat:write,im:write,im:history,channels:history,users:read,users:read.email";
  tokens: ReadonlySet<string> = new Set([WORKSPACE.token]);
  /** Messages that are refused for good, by their text. */
  refuses: (text: string) => boolean = () => false;

  get url(): string {
    return `${this.origin}/api/`;
  }

  /** All messages, the oldest first. */
  get messages(): readonly SlackMessage[] {
    return this.#messages;
  }

  /** The messages of one conversation, without those in threads. */
  in(channel: string): readonly SlackMessage[] {
    return this.#messages.filter((each) => each.channel === channel && each.thread_ts === undefined);
  }

  protected answerTo(request: IncomingMessage, bytes: Buffer, response: ServerResponse): void {
    const method = (request.url ?? "").replace("/api/", "");
    const args = readArgs(bytes.toString());
    const play = this.plays.get(method) ?? this.play;
    if (play.kind === "fail") return void response.writeHead(500).end();
    if (play.kind === "busy")
      return void response.writeHead(429, { "retry-after": String(play.waitMs / 1_000) }).end();
    const bearer = request.headers.authorization?.replace("Bearer ", "") ?? String(args["token"]);
    const answer = this.tokens.has(bearer)
      ? this.#answer(method, args)
      : { ok: false, error: "invalid_auth" };
    if (play.kind === "silence") return;
    if (play.kind === "hang up") return void response.destroy();
    if (play.kind === "answer twice") return answerTwice(response, JSON.stringify(answer));
    response.writeHead(200, {
      "content-type": "application/json; charset=utf-8",
      "x-oauth-scopes": this.scopes,
    });
    if (play.kind === "flood") return flood(response);
    response.end(JSON.stringify(answer));
  }

  #answer(method: string, args: Json): Json {
    const answer = this.#act(method, args);
    if (answer["ok"] === true) this.calls.push({ method, args });
    return answer;
  }

  #act(method: string, args: Json): Json {
    const { team, app, bot } = WORKSPACE;
    switch (method) {
      case "auth.test":
        return {
          ok: true,
          url: "https://example.slack.com/",
          team: "Example",
          user: "countersign",
          team_id: team,
          user_id: bot,
          bot_id: "B0BOT",
          app_id: app,
          is_enterprise_install: false,
        };
      case "conversations.open":
        return this.#open(args);
      case "chat.postMessage":
        return this.#post(args);
      case "chat.update":
        return this.#update(args);
      case "conversations.history":
        return this.#history(args, (message) => message.thread_ts === undefined);
      case "conversations.replies":
        return this.#history(args, ({ ts, thread_ts }) => ts === args["ts"] || thread_ts === args["ts"]);
      case "views.open":
        return this.#openView(args);
      case "users.info":
        return this.#user(String(args["user"]), "user_not_found");
      case "users.lookupByEmail":
        return this.#user(this.#userWith(textOf(args["email"])), "users_not_found");
      default:
        return { ok: false, error: "unknown_method" };
    }
  }

  #user(id: string, missing: string): Json {
    const scopes = this.scopes.split(",");
    if (!scopes.includes("users:read")) return { ok: false, error: "missing_scope", needed: "users:read" };
    if (!this.users.has(id)) return { ok: false, error: missing };
    const user = this.member(id);
    if (scopes.includes("users:read.email")) return { ok: true, user };
    const { email: _email, ...profile } = user["profile"] as Json;
    return { ok: true, user: { ...user, profile } };
  }

  /** Upper and lower case are one to Slack. */
  #userWith(email: string): string {
    const isTheirs = (id: string): boolean =>
      textOf((this.member(id)["profile"] as Json)["email"]).toLowerCase() === email.toLowerCase();
    return [...this.users].find(isTheirs) ?? "";
  }

  /** A member, as Slack's reference shows one. */
  member(id: string): Json {
    const name = id.replace(/^U0/, "").toLowerCase();
    return {
      id,
      team_id: WORKSPACE.team,
      name,
      deleted: false,
      real_name: name,
      profile: { real_name: name, display_name: name, email: `${name}@example.com`, team: WORKSPACE.team },
      is_admin: false,
      is_owner: false,
      is_primary_owner: false,
      is_restricted: false,
      is_ultra_restricted: false,
      is_bot: false,
      is_app_user: false,
      updated: 1_502_138_686,
      is_email_confirmed: true,
      ...this.oddities.get(id),
    };
  }

  #open({ users }: Json): Json {
    if (!this.users.has(String(users))) return { ok: false, error: "user_not_found" };
    return { ok: true, channel: { id: this.conversationOf(String(users)) } };
  }

  /** The conversation of the app with a person. */
  conversationOf(user: string): string {
    return user.replace(/^U/, "D");
  }

  #post(args: Json): Json {
    const to = String(args["channel"]);
    const channel = this.users.has(to) ? this.conversationOf(to) : to;
    const isKnown = channel === WORKSPACE.room || this.users.has(channel.replace(/^D/, "U"));
    if (!isKnown) return { ok: false, error: "channel_not_found" };
    const blocks = (args["blocks"] ?? []) as readonly Json[];
    const fault = faultOf(blocks);
    if (fault !== undefined) return { ok: false, error: fault, response_metadata: { messages: [] } };
    if (this.refuses(textOf(args["text"]))) return { ok: false, error: "invalid_blocks" };
    if (blocks.length === 0 && !args["text"]) return { ok: false, error: "no_text" };
    this.#count += 1;
    const ts = `${Math.floor(Date.now() / 1_000)}.${String(this.#count).padStart(6, "0")}`;
    const { thread_ts: thread, metadata } = args;
    const message: SlackMessage = {
      channel,
      ts,
      type: "message",
      user: WORKSPACE.bot,
      bot_id: "B0BOT",
      app_id: WORKSPACE.app,
      text: textOf(args["text"]),
      blocks: blocks.map((block, place) => ({ block_id: `b${place}`, ...block })),
      ...(metadata === undefined ? {} : { metadata: metadata as Json }),
      ...(thread === undefined ? {} : { thread_ts: textOf(thread) }),
    };
    this.#messages.push(message);
    return { ok: true, channel, ts, message };
  }

  #update(args: Json): Json {
    const place = this.#messages.findIndex(
      ({ channel, ts }) => channel === args["channel"] && ts === args["ts"],
    );
    const before = this.#messages[place];
    if (before === undefined) return { ok: false, error: "message_not_found" };
    const blocks = args["blocks"] as readonly Json[];
    const fault = faultOf(blocks);
    if (fault !== undefined) return { ok: false, error: fault };
    const edited = { user: WORKSPACE.bot, ts: before.ts };
    const text = textOf(args["text"]);
    const metadata = (args["metadata"] as Json | undefined) ?? before.metadata ?? {};
    this.#messages[place] = { ...before, text, blocks, metadata, edited };
    return { ok: true, channel: before.channel, ts: before.ts, text, message: this.#messages[place] };
  }

  #history(args: Json, isIn: (message: SlackMessage) => boolean): Json {
    const limit = Number(args["limit"] ?? 100);
    const oldest = Number(args["oldest"] ?? 0);
    const from = Number(args["cursor"] ?? 0);
    const all = this.#messages
      .filter((message) => message.channel === args["channel"] && isIn(message))
      .filter(({ ts }) => Number(ts) > oldest)
      .toReversed()
      .map(({ channel: _channel, metadata, ...message }) =>
        String(args["include_all_metadata"]) === "true" && metadata !== undefined
          ? { ...message, metadata }
          : message,
      );
    const hasMore = all.length > from + limit;
    return {
      ok: true,
      messages: all.slice(from, from + limit),
      has_more: hasMore,
      ...(hasMore ? { response_metadata: { next_cursor: String(from + limit) } } : {}),
    };
  }

  #openView(args: Json): Json {
    const view = args["view"] as Json;
    if (!/^\d+\.\d+\.[0-9a-f]+$/.test(String(args["trigger_id"])))
      return { ok: false, error: "invalid_trigger_id" };
    if (faultOf(view["blocks"]) !== undefined || textOf(view["private_metadata"]).length > 3_000)
      return { ok: false, error: "invalid_arguments" };
    const opened = { ...view, id: `V${this.views.length}`, app_id: WORKSPACE.app, team_id: WORKSPACE.team };
    this.views.push(opened);
    return { ok: true, view: opened };
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function readArgs(body: string): Json {
  if (body.startsWith("{")) return JSON.parse(body) as Json;
  const entries = [...new URLSearchParams(body)].map(([name, value]) => [name, readValue(value)] as const);
  return Object.fromEntries(entries);
}

function readValue(value: string): unknown {
  return /^[[{]/.test(value) ? (JSON.parse(value) as unknown) : value;
}

function flood(response: ServerResponse): void {
  const more = (): void => {
    while (response.write("x".repeat(65_536)));
    response.once("drain", more);
  };
  more();
}

/** Whose press it is, and when. */
export interface Pressing {
  readonly user: string;
  readonly action: string;
  /** Milliseconds since the epoch; now unless given. */
  readonly at?: number;
  /** Members of the payload that are not as Slack sends them. */
  readonly payload?: Json;
}

/** The payload of a pressed button, as Slack's reference shows it. */
/** Slack gives each interaction another. */
function newTrigger(): string {
  return `12321423423.333649436676.${randomBytes(16).toString("hex")}`;
}

export function pressPayload(message: SlackMessage, { user, action, payload = {} }: Pressing): Json {
  const elements = message.blocks.flatMap((block) => (block["elements"] ?? []) as readonly Json[]);
  const pressed = elements.find((element) => element["action_id"] === action);
  const { channel, ...shown } = message;
  return {
    type: "block_actions",
    user: { id: user, username: user.toLowerCase(), name: user.toLowerCase(), team_id: WORKSPACE.team },
    api_app_id: WORKSPACE.app,
    token: "deprecated",
    container: { type: "message", message_ts: message.ts, channel_id: channel, is_ephemeral: false },
    trigger_id: newTrigger(),
    team: { id: WORKSPACE.team, domain: "example" },
    enterprise: null,
    is_enterprise_install: false,
    channel: { id: channel, name: "directmessage" },
    message: shown,
    state: { values: {} },
    response_url: "http://169.254.169.254/latest/meta-data/",
    actions: [
      {
        action_id: action,
        block_id: message.blocks.at(-1)?.["block_id"],
        text: pressed?.["text"],
        value: pressed?.["value"],
        type: "button",
        action_ts: "1700000000.000001",
      },
    ],
    ...payload,
  };
}

/** The payload of a submitted dialog; `values` by block, as a person filled it in. */
export function submitPayload(view: Json, user: string, values: Json, payload: Json = {}): Json {
  const state = Object.entries(values).map(([block, value]) => [
    block,
    {
      input:
        typeof value === "string"
          ? { type: "plain_text_input", value }
          : { type: "static_select", selected_option: value },
    },
  ]);
  return {
    type: "view_submission",
    team: { id: WORKSPACE.team, domain: "example" },
    user: { id: user, username: user.toLowerCase(), name: user.toLowerCase(), team_id: WORKSPACE.team },
    api_app_id: WORKSPACE.app,
    token: "deprecated",
    trigger_id: newTrigger(),
    view: {
      ...view,
      state: { values: Object.fromEntries(state) as Json },
      hash: "156772938.1827394",
      bot_id: "B0BOT",
    },
    response_urls: [],
    is_enterprise_install: false,
    enterprise: null,
    ...payload,
  };
}

/** How a request is signed. */
export interface Signing {
  readonly at?: number;
  readonly secret?: string;
}

/** A request as Slack sends it. */
export function signedRequest(payload: Json | string, { at = Date.now(), secret }: Signing = {}): Request {
  const body =
    typeof payload === "string" ? payload : `payload=${encodeURIComponent(JSON.stringify(payload))}`;
  const timestamp = String(Math.floor(at / 1_000));
  const mac = createHmac("sha256", secret ?? WORKSPACE.signingSecret).update(`v0:${timestamp}:${body}`);
  return new Request("http://127.0.0.1/channels/slack/interactions", {
    method: "POST",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      "user-agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
      "x-slack-request-timestamp": timestamp,
      "x-slack-signature": `v0=${mac.digest("hex")}`,
    },
    body,
  });
}
