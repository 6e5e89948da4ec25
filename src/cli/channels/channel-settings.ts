import { readFileSync } from "node:fs";
import type { EmailSettings } from "../../channels/email/index.ts";
import type { PushSettings } from "../../channels/push/index.ts";
import type { RoomOptions } from "../../channels/room/index.ts";
import type { SiemSettings } from "../../channels/siem/index.ts";
import type { SlackSettings } from "../../channels/slack/index.ts";
import type { WebhookAnswers } from "../../channels/webhook/index.ts";
import {
  CountersignError,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from "../../protocol/index.ts";
import type { Flags, Invocation } from "../command.ts";

const MOST_BYTES = 10_000_000;
const PEOPLE = ["id", "roles", "slack", "email", "webhook"];
const ROOM = ["name", "template", "secret", "chat"];
const ROOM_NAME = /^[a-z0-9-]{1,40}$/;
const MEMBERS = {
  slack: ["team", "app", "room", "api"],
  email: ["from", "operator"],
  push: ["contact", "operator", "services"],
  siem: ["name", "format", "file", "url", "secret"],
} as const;

/** Who is reached by which channel, from the file of `--channels` and the secrets in the environment. */
export interface ChannelSettings {
  readonly slack?: SlackSettings;
  readonly email?: EmailSettings;
  readonly push?: PushSettings;
  readonly rooms?: readonly RoomOptions[];
  /** Where the journal is exported to. */
  readonly siem?: SiemSettings;
  /** Who may answer through the webhook's receiver. */
  readonly webhookAnswers?: Omit<WebhookAnswers, "ledger">;
}

export const CHANNELS_FLAG: Flags = {
  channels: {
    type: "string",
    value: "FILE",
    help: "a JSON file that says who is notified, and where: Slack, e-mail, push, rooms, SIEM",
  },
};

/** Reads the file that a flag or COUNTERSIGN_CHANNELS names; empty if none does. Throws `invalid-option`. */
export function readChannelSettings({ flags, env }: Pick<Invocation, "flags" | "env">): ChannelSettings {
  const file = flags.text("channels") ?? env["COUNTERSIGN_CHANNELS"];
  if (file === undefined || file === "") return {};
  const settings = parseFile(file);
  checkMembers(settings, ["people", "slack", "email", "push", "rooms", "siem"], file);
  const people = peopleIn(settings, file);
  const slack = channelIn(settings, "slack", file);
  const email = channelIn(settings, "email", file);
  const push = channelIn(settings, "push", file);
  const rooms = roomsIn(settings, file, env);
  const siem = channelIn(settings, "siem", file);
  const answers = answersOf(people, env);
  if ([slack, email, push, siem, answers].every((channel) => channel === undefined) && rooms.length === 0)
    throw invalid(`${file} names no channel. Add \`slack\`, \`email\`, \`push\`, \`rooms\` or \`siem\`.`);
  return {
    ...(slack === undefined ? {} : { slack: slackOf(slack, people, env) }),
    ...(email === undefined ? {} : { email: emailOf(email, people, env) }),
    ...(push === undefined ? {} : { push: pushOf(push) }),
    ...(rooms.length === 0 ? {} : { rooms }),
    ...(siem === undefined ? {} : { siem: siemOf(siem, env) }),
    ...(answers === undefined ? {} : { webhookAnswers: answers }),
  };
}

function answersOf(people: readonly Person[], env: NodeJS.ProcessEnv): ChannelSettings["webhookAnswers"] {
  const known = people.flatMap(({ id, roles, webhook }) =>
    webhook === undefined ? [] : [{ id, roles, webhook }],
  );
  if (known.length === 0) return undefined;
  const secrets = secretOf(env, "COUNTERSIGN_WEBHOOK_ANSWER_SECRET").split(/[\s,]+/);
  return { secrets, people: known };
}

function channelIn(settings: JsonObject, name: keyof typeof MEMBERS, file: string): JsonObject | undefined {
  const channel = settings[name];
  if (channel === undefined) return undefined;
  if (!isJsonObject(channel)) throw invalid(`\`${name}\` in ${file} must be an object.`);
  checkMembers(channel, MEMBERS[name], `\`${name}\` in ${file}`);
  return channel;
}

function slackOf(slack: JsonObject, people: readonly Person[], env: NodeJS.ProcessEnv): SlackSettings {
  const room = optionalText(slack, "room");
  const apiUrl = optionalText(slack, "api");
  return {
    token: secretOf(env, "COUNTERSIGN_SLACK_TOKEN"),
    signingSecret: secretOf(env, "COUNTERSIGN_SLACK_SIGNING_SECRET"),
    team: optionalText(slack, "team") ?? "",
    app: optionalText(slack, "app") ?? "",
    people: people.flatMap(({ id, roles, slack: account }) =>
      account === undefined ? [] : [{ id, roles, slack: account }],
    ),
    ...(room === undefined ? {} : { room }),
    ...(apiUrl === undefined ? {} : { apiUrl }),
  };
}

function emailOf(email: JsonObject, people: readonly Person[], env: NodeJS.ProcessEnv): EmailSettings {
  const operator = optionalText(email, "operator");
  return {
    smtp: secretOf(env, "COUNTERSIGN_SMTP_URL"),
    from: optionalText(email, "from") ?? "",
    people: people.flatMap(({ id, roles, email: address }) =>
      address === undefined ? [] : [{ id, roles, email: address }],
    ),
    ...(operator === undefined ? {} : { operator }),
  };
}

function pushOf(push: JsonObject): PushSettings {
  const operator = optionalText(push, "operator");
  const { services } = push;
  if (services !== undefined && !isTexts(services))
    throw invalid("`services` of `push` must be a list of origins.");
  return {
    contact: optionalText(push, "contact") ?? "",
    ...(operator === undefined ? {} : { operator }),
    ...(services === undefined ? {} : { services }),
  };
}

function siemOf(siem: JsonObject, env: NodeJS.ProcessEnv): SiemSettings {
  const { name, format, file, url, secret } = Object.fromEntries(
    MEMBERS.siem.map((member) => [member, optionalText(siem, member)]),
  );
  if (format !== undefined && format !== "plain" && format !== "ocsf")
    throw invalid("The `format` of `siem` must be plain or ocsf.");
  return {
    ...(name === undefined ? {} : { name }),
    ...(format === undefined ? {} : { format }),
    ...(file === undefined ? {} : { file }),
    ...(url === undefined ? {} : { url }),
    ...(secret === undefined ? {} : { authorization: secretOf(env, secret) }),
  };
}

function isTexts(value: JsonValue): value is readonly string[] {
  return isJsonArray(value) && value.every((text) => typeof text === "string");
}

function parseFile(file: string): JsonObject {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    throw invalid(`${file} cannot be read.`, cause);
  }
  const parsed = parseJson(text, { maxBytes: MOST_BYTES });
  if (!parsed.ok) throw invalid(`${file} is not JSON: ${parsed.message}`);
  if (isJsonObject(parsed.value)) return parsed.value;
  throw invalid(`${file} must hold an object with \`people\` and the channels.`);
}

function roomsIn({ rooms = [] }: JsonObject, file: string, env: NodeJS.ProcessEnv): readonly RoomOptions[] {
  if (!isJsonArray(rooms)) throw invalid(`\`rooms\` in ${file} must be a list.`);
  return rooms.map((room, place) => {
    const where = `\`rooms[${place}]\` in ${file}`;
    if (!isJsonObject(room)) throw invalid(`${where} must be an object.`);
    checkMembers(room, room["template"] === "opsgenie" ? [...ROOM, "url"] : ROOM, where);
    const name = optionalText(room, "name") ?? "";
    if (!ROOM_NAME.test(name))
      throw invalid(`${where} needs a \`name\` of lower-case letters, digits and dashes.`);
    return roomOf(room, { name, where, env });
  });
}

interface RoomPlace {
  readonly name: string;
  readonly where: string;
  readonly env: NodeJS.ProcessEnv;
}

function roomOf(room: JsonObject, { name, where, env }: RoomPlace): RoomOptions {
  const { template } = room;
  const variable = optionalText(room, "secret");
  if (variable === undefined)
    throw invalid(`${where} needs \`secret\`: the environment variable with its address or key.`);
  const secret = secretOf(env, variable);
  const chat = optionalText(room, "chat");
  if (template === "teams" || template === "discord") return { name, template, url: secret };
  if (template === "pagerduty") return { name, template, routingKey: secret };
  const url = optionalText(room, "url");
  if (template === "opsgenie")
    return { name, template, apiKey: secret, ...(url === undefined ? {} : { url }) };
  if (template !== "telegram")
    throw invalid(`The \`template\` of ${where} must be teams, discord, telegram, pagerduty or opsgenie.`);
  if (chat === undefined) throw invalid(`${where} needs \`chat\`, the id of the chat.`);
  return { name, template, url: secret, chat };
}

interface Person {
  readonly id: string;
  readonly roles: readonly string[];
  readonly slack?: string;
  readonly email?: string;
  readonly webhook?: string;
}

function peopleIn({ people = [] }: JsonObject, file: string): readonly Person[] {
  if (!isJsonArray(people)) throw invalid(`\`people\` in ${file} must be a list.`);
  return people.map((person, place) => {
    const where = `\`people[${place}]\` in ${file}`;
    if (!isJsonObject(person)) throw invalid(`${where} must be an object.`);
    checkMembers(person, PEOPLE, where);
    const id = optionalText(person, "id");
    const slack = optionalText(person, "slack");
    const email = optionalText(person, "email");
    const webhook = optionalText(person, "webhook");
    const { roles = [] } = person;
    if (id === undefined) throw invalid(`${where} needs an \`id\`.`);
    if (!isTexts(roles)) throw invalid(`\`roles\` of ${where} must be a list of names.`);
    return {
      id,
      roles,
      ...(slack === undefined ? {} : { slack }),
      ...(email === undefined ? {} : { email }),
      ...(webhook === undefined ? {} : { webhook }),
    };
  });
}

// A word that is spelled wrong must not be a right that somebody lacks, or has.
function checkMembers(object: JsonObject, known: readonly string[], where: string): void {
  const stranger = Object.keys(object).find((name) => !known.includes(name));
  if (stranger === undefined) return;
  throw invalid(`Unknown member "${stranger}" of ${where}. Use ${known.join(", ")}.`);
}

function optionalText(object: JsonObject, name: string): string | undefined {
  const value = object[name];
  if (value === undefined || (typeof value === "string" && value !== "")) return value;
  throw invalid(`\`${name}\` must be a text that is not empty.`);
}

function secretOf(env: NodeJS.ProcessEnv, name: string): string {
  const value = env[name]?.trim();
  if (value) return value;
  throw invalid(`Set ${name}: a channel in the channels file needs it.`);
}

function invalid(message: string, cause?: unknown): CountersignError {
  return new CountersignError("invalid-option", message, { details: { field: "channels" }, cause });
}
