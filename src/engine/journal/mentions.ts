import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import type { Journal } from "./journal.ts";

const PAGE = 200;
const MOST_BYTES = 4_000_000;

/** Members of records that name a person; `by` may be a name, several, or a person with an id. */
const PEOPLE = ["user", "requesters", "by", "person", "delegated", "from", "to", "ended"] as const;

/** Whom and which tools the readable records of a session name. What was said in text is not looked at. */
export interface Mentions {
  readonly people: ReadonlySet<string>;
  readonly tools: ReadonlySet<string>;
}

/** All that one session's journal names. */
export async function mentionsIn(
  journal: Pick<Journal, "sessionRecords">,
  session: string,
): Promise<Mentions> {
  const people = new Set<string>();
  const tools = new Set<string>();
  for await (const body of bodiesIn(journal, session)) {
    for (const name of peopleOf(body)) people.add(name);
    for (const name of toolsOf(body)) tools.add(name);
  }
  return { people, tools };
}

/** The first of these people that one session's journal names; undefined if it names none. */
export async function isMentioned(
  journal: Pick<Journal, "sessionRecords">,
  session: string,
  people: ReadonlySet<string>,
): Promise<string | undefined> {
  for await (const body of bodiesIn(journal, session)) {
    const found = peopleOf(body).find((name) => people.has(name));
    if (found !== undefined) return found;
  }
  return undefined;
}

async function* bodiesIn(
  journal: Pick<Journal, "sessionRecords">,
  session: string,
): AsyncGenerator<JsonObject> {
  for (let after = 0; ; ) {
    const page = await journal.sessionRecords(session, { after, limit: PAGE, bytes: MOST_BYTES });
    for (const { body } of page) if (isJsonObject(body)) yield body;
    const last = page.at(-1);
    // A page is short where records are long.
    if (last === undefined) return;
    after = last.n;
  }
}

function peopleOf(body: JsonObject): readonly string[] {
  return PEOPLE.flatMap((name) => namesIn(body[name]));
}

function namesIn(value: JsonValue | undefined): readonly string[] {
  if (typeof value === "string") return [value];
  if (isJsonArray(value)) return value.filter((each) => typeof each === "string");
  if (!isJsonObject(value)) return [];
  // A person, or for whom a vote was given.
  return [value["id"], value["onBehalfOf"], value["from"]].filter((each) => typeof each === "string");
}

function toolsOf({ tool, calls }: JsonObject): readonly string[] {
  const ofCalls = isJsonArray(calls) ? calls.filter(isJsonObject).map((call) => call["tool"]) : [];
  return [tool, ...ofCalls].filter((each) => typeof each === "string");
}
