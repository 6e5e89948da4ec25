import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "../../protocol/index.ts";

const MOST_BYTES = 1_000_000;

/** A button that was pressed. */
export interface Press {
  readonly type: "press";
  readonly user: string;
  readonly action: string;
  readonly value: unknown;
  readonly trigger: string;
  /** Where the message is. */
  readonly place: string;
  readonly message: string;
  /** What Slack says of the message. */
  readonly shown: JsonObject;
}

/** A dialog that was submitted. */
export interface Submission {
  readonly type: "submission";
  readonly user: string;
  readonly dialog: string;
  readonly value: unknown;
  readonly values: JsonObject;
}

/** What a signed request says; `other`: nothing that we act on. */
export type Interaction = Press | Submission | { readonly type: "other" };

/** Whose workspace and app a request is of. */
export interface Pinned {
  readonly team: string;
  readonly app: string;
}

/** Reads a request. Undefined: it is no interaction, or one of another workspace or app. */
export function readInteraction(body: Uint8Array, pinned: Pinned): Interaction | undefined {
  const payload = payloadOf(body);
  if (payload === undefined || !isPinned(payload, pinned)) return undefined;
  if (payload["type"] === "block_actions") return readPress(payload);
  if (payload["type"] === "view_submission") return readSubmission(payload, pinned);
  return { type: "other" };
}

function payloadOf(body: Uint8Array): JsonObject | undefined {
  const text = new URLSearchParams(Buffer.from(body).toString()).getAll("payload");
  const parsed = text.length === 1 ? parseJson(text[0] ?? "", { maxBytes: MOST_BYTES }) : undefined;
  return parsed?.ok && isJsonObject(parsed.value) ? parsed.value : undefined;
}

// In a shared conversation a person of another workspace may press: `user.team_id` is theirs.
function isPinned(payload: JsonObject, { team, app }: Pinned): boolean {
  const { user } = payload;
  const home = isJsonObject(user) ? (user["team_id"] ?? team) : undefined;
  return payload["api_app_id"] === app && textIn(payload["team"], "id") === team && home === team;
}

function readPress(payload: JsonObject): Interaction | undefined {
  const { actions, container, message } = payload;
  const [action, ...more] = Array.isArray(actions) ? (actions as readonly JsonValue[]) : [];
  const user = textIn(payload["user"], "id");
  if (!isJsonObject(action) || more.length > 0 || user === undefined) return undefined;
  const [place, ts] = [textIn(container, "channel_id"), textIn(container, "message_ts")];
  const { action_id: name, value } = action;
  const trigger = payload["trigger_id"];
  if (typeof name !== "string" || typeof trigger !== "string") return undefined;
  if (place === undefined || ts === undefined || !isJsonObject(message)) return { type: "other" };
  return { type: "press", user, action: name, value, trigger, place, message: ts, shown: message };
}

function readSubmission(payload: JsonObject, { team, app }: Pinned): Interaction | undefined {
  const { view } = payload;
  const user = textIn(payload["user"], "id");
  if (!isJsonObject(view) || user === undefined) return undefined;
  if ((view["app_id"] ?? app) !== app || (view["team_id"] ?? team) !== team) return undefined;
  const dialog = view["callback_id"];
  const { state } = view;
  const values = isJsonObject(state) && isJsonObject(state["values"]) ? state["values"] : {};
  if (typeof dialog !== "string") return undefined;
  return { type: "submission", user, dialog, value: view["private_metadata"], values };
}

function textIn(value: JsonValue | undefined, name: string): string | undefined {
  const found = isJsonObject(value) ? value[name] : undefined;
  return typeof found === "string" && found !== "" ? found : undefined;
}
