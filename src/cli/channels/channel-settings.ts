import { readFileSync } from "node:fs";
import type { EmailSettings } from "../../channels/email/index.ts";
import type { SlackSettings } from "../../channels/slack/index.ts";
import {
  CountersignError,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  parseJson,
} from "../../protocol/index.ts";
import type { Flags, Invocation } from "../command.ts";

const MOST_BYTES = 10_000_000;
const PEOPLE = ["id", "roles", "slack", "email"];
const MEMBERS = { slack: ["team", "app", "room", "api"], email: ["from", "operator"] } as const;

/** Who is reached by which channel, from the file of `--channels` and the secrets in the environment. */
export interface ChannelSettings {
  readonly slack?: SlackSettings;
  readonly email?: EmailSettings;
}

export const CHANNELS_FLAG: Flags = {
  channels: {
    type: "string",
    value: "FILE",
    help: "a JSON file that says who is reached by which channel: Slack or e-mail",
  },
};

/** Reads the file that a flag or COUNTERSIGN_CHANNELS names; empty if none does. Throws `invalid-option`. */
export function readChannelSettings({ flags, env }: Pick<Invocation, "flags" | "env">): ChannelSettings {
  const file = flags.text("channels") ?? env["COUNTERSIGN_CHANNELS"];
  if (file === undefined || file === "") return {};
  const settings = parseFile(file);
  checkMembers(settings, ["people", "slack", "email"], file);
  const people = peopleIn(settings, file);
  const slack = channelIn(settings, "slack", file);
  const email = channelIn(settings, "email", file);
  if (slack === undefined && email === undefined)
    throw invalid(`${file} names no channel. Add \`slack\` or \`email\`.`);
  return {
    ...(slack === undefined ? {} : { slack: slackOf(slack, people, env) }),
    ...(email === undefined ? {} : { email: emailOf(email, people, env) }),
  };
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

interface Person {
  readonly id: string;
  readonly roles: readonly string[];
  readonly slack?: string;
  readonly email?: string;
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
    const { roles = [] } = person;
    if (id === undefined) throw invalid(`${where} needs an \`id\`.`);
    const isList = isJsonArray(roles) && roles.every((role) => typeof role === "string");
    if (!isList) throw invalid(`\`roles\` of ${where} must be a list of names.`);
    return {
      id,
      roles: roles.map(String),
      ...(slack === undefined ? {} : { slack }),
      ...(email === undefined ? {} : { email }),
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
