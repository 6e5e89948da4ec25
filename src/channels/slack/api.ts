import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "../../protocol/index.ts";

const MOST_ANSWER_BYTES = 4_000_000;
const SECONDS = /^\d{1,9}$/;

/** The token is no longer valid, or lacks a right: an operator must act. */
const DEAD_TOKEN: ReadonlySet<string> = new Set([
  "account_inactive",
  "app_uninstalled",
  "invalid_auth",
  "missing_scope",
  "no_permission",
  "not_authed",
  "org_login_required",
  "team_access_not_granted",
  "token_expired",
  "token_revoked",
]);
/** The call may have had its effect: nobody knows. */
const UNSURE: ReadonlySet<string> = new Set(["fatal_error", "internal_error", "request_timeout"]);
/** It works later. */
const TEMPORARY: ReadonlySet<string> = new Set([
  ...UNSURE,
  "message_limit_exceeded",
  "rate_limited",
  "ratelimited",
  "service_unavailable",
  "team_added_to_org",
]);

/** Slack's answer to a call. */
export type SlackAnswer =
  | {
      readonly ok: true;
      readonly data: JsonObject;
      /** What the token allows, if Slack says so. */
      readonly scopes?: readonly string[];
    }
  | {
      readonly ok: false;
      /** Slack's code, or `http_…`, or `unreachable`. */
      readonly error: string;
      /** For the operator. Never has a secret in it. */
      readonly reason: string;
      readonly retryAfterMs?: number;
      /** It may have had its effect. */
      readonly isUnsure: boolean;
      /** The same call may work later, or after an operator has acted. */
      readonly isTemporary: boolean;
      readonly isDeadToken: boolean;
    };

/** Calls Slack's Web API with one bot token. */
export interface SlackApi {
  call(method: string, args: JsonObject, signal: AbortSignal): Promise<SlackAnswer>;
}

/** `base` ends with a slash, as `https://slack.com/api/` does. */
export function createSlackApi(base: string, token: string): SlackApi {
  return { call: (method, args, signal) => call({ base, token, method }, args, signal) };
}

interface Call {
  readonly base: string;
  readonly token: string;
  readonly method: string;
}

async function call(about: Call, args: JsonObject, signal: AbortSignal): Promise<SlackAnswer> {
  const { base, token, method } = about;
  let response: Response;
  let text: string | undefined;
  try {
    response = await fetch(new URL(method, base), {
      method: "POST",
      redirect: "manual",
      headers: { authorization: `Bearer ${token}`, "user-agent": "countersign" },
      body: new URLSearchParams(
        Object.entries(args).map(([name, value]): [string, string] => [name, written(value)]),
      ),
      signal,
    });
    text = await readText(response);
  } catch (error) {
    return unreached(method, error, signal);
  }
  if (response.ok) {
    const scopes = response.headers.get("x-oauth-scopes");
    const answer = readAnswer(method, text);
    return answer.ok && scopes !== null ? { ...answer, scopes: scopes.split(/,\s*/) } : answer;
  }
  const retryAfter = response.headers.get("retry-after") ?? "";
  return {
    ...failure(method, `http_${response.status}`),
    isUnsure: response.status >= 500,
    isTemporary: true,
    ...(SECONDS.test(retryAfter) ? { retryAfterMs: Number(retryAfter) * 1_000 } : {}),
  };
}

function written(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Undefined if it is longer than Slack's answers are. */
async function readText({ body }: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  if (body === null) return "";
  for await (const chunk of body as ReadableStream<Uint8Array>) {
    length += chunk.length;
    if (length > MOST_ANSWER_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function readAnswer(method: string, text: string | undefined): SlackAnswer {
  const parsed = text === undefined ? undefined : parseJson(text, { maxBytes: MOST_ANSWER_BYTES });
  const data = parsed?.ok ? parsed.value : undefined;
  if (!isJsonObject(data))
    return { ...failure(method, "unreadable_answer"), isUnsure: true, isTemporary: true };
  if (data["ok"] === true) return { ok: true, data };
  const error = typeof data["error"] === "string" ? data["error"].slice(0, 100) : "unknown_error";
  return failure(method, error);
}

function failure(method: string, error: string): Exclude<SlackAnswer, { readonly ok: true }> {
  const isDeadToken = DEAD_TOKEN.has(error);
  return {
    ok: false,
    error,
    reason: `Slack answered ${method} with ${error.replace("http_", "HTTP ")}.`,
    isUnsure: UNSURE.has(error),
    isTemporary: isDeadToken || TEMPORARY.has(error),
    isDeadToken,
  };
}

function unreached(method: string, error: unknown, signal: AbortSignal): SlackAnswer {
  const { cause } = error instanceof Error ? error : { cause: undefined };
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "no answer";
  // A connection that was refused has carried nothing.
  const isUnsure = signal.aborted || !["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"].includes(code);
  const why = signal.aborted ? "did not answer in time" : `could not be reached (${code})`;
  return {
    ...failure(method, "unreachable"),
    reason: `Slack ${why} for ${method}.`,
    isUnsure,
    isTemporary: true,
  };
}
