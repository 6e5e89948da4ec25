import { readFileSync } from "node:fs";
import type { SlackPerson, SlackSettings } from "../../channels/slack/index.ts";
import {
  CountersignError,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  parseJson,
} from "../../protocol/index.ts";
import type { Flags, Invocation } from "../command.ts";

const MOST_BYTES = 10_000_000;
const PEOPLE = ["id", "roles", "slack"];
const SLACK = ["team", "app", "room", "api"];

/** Who is reached by which channel, from the file of `--channels` and the secrets in the environment. */
export interface ChannelSettings {
  readonly slack?: SlackSettings;
}

export const CHANNELS_FLAG: Flags = {
  channels: {
    type: "string",
    value: "FILE",
    help: "a JSON file that says who is reached by which channel, for example in Slack",
  },
};

/** Reads the file that a flag or COUNTERSIGN_CHANNELS names; empty if none does. Throws `invalid-option`. */
export function readChannelSettings({ flags, env }: Pick<Invocation, "flags" | "env">): ChannelSettings {
  const file = flags.text("channels") ?? env["COUNTERSIGN_CHANNELS"];
  if (file === undefined || file === "") return {};
  const settings = parseFile(file);
  checkMembers(settings, ["people", "slack"], file);
  const { slack } = settings;
  if (slack === undefined) throw invalid(`${file} names no channel. Add \`slack\`.`);
  if (!isJsonObject(slack)) throw invalid(`\`slack\` in ${file} must be an object.`);
  checkMembers(slack, SLACK, `\`slack\` in ${file}`);
  const room = optionalText(slack, "room");
  const apiUrl = optionalText(slack, "api");
  return {
    slack: {
      token: secretOf(env, "COUNTERSIGN_SLACK_TOKEN"),
      signingSecret: secretOf(env, "COUNTERSIGN_SLACK_SIGNING_SECRET"),
      team: optionalText(slack, "team") ?? "",
      app: optionalText(slack, "app") ?? "",
      people: peopleIn(settings, file),
      ...(room === undefined ? {} : { room }),
      ...(apiUrl === undefined ? {} : { apiUrl }),
    },
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
  throw invalid(`${file} must hold an object with \`people\` and \`slack\`.`);
}

/** The people who have an account in Slack. */
function peopleIn({ people = [] }: JsonObject, file: string): readonly SlackPerson[] {
  if (!isJsonArray(people)) throw invalid(`\`people\` in ${file} must be a list.`);
  return people.flatMap((person, place) => {
    const where = `\`people[${place}]\` in ${file}`;
    if (!isJsonObject(person)) throw invalid(`${where} must be an object.`);
    checkMembers(person, PEOPLE, where);
    const id = optionalText(person, "id");
    const slack = optionalText(person, "slack");
    const { roles = [] } = person;
    if (id === undefined) throw invalid(`${where} needs an \`id\`.`);
    const isList = isJsonArray(roles) && roles.every((role) => typeof role === "string");
    if (!isList) throw invalid(`\`roles\` of ${where} must be a list of names.`);
    return slack === undefined ? [] : [{ id, roles: roles.map(String), slack }];
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
  throw invalid(`Set ${name}: the channels file names Slack.`);
}

function invalid(message: string, cause?: unknown): CountersignError {
  return new CountersignError("invalid-option", message, { details: { field: "channels" }, cause });
}
