import { CountersignError } from "../../protocol/index.ts";
import type { ChannelPerson } from "../people.ts";

const API = "https://slack.com/api/";
const USER = /^[UW][A-Z0-9]{2,20}$/;
const ROOM = /^[CG][A-Z0-9]{2,20}$/;
const TEAM = /^T[A-Z0-9]{2,20}$/;
const APP = /^A[A-Z0-9]{2,20}$/;
// Other letters than these can look like them, or become them in lower case.
const ADDRESS = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?$/;

/** A person in Slack. */
export interface SlackPerson extends ChannelPerson {
  /**
   * Their member id, as in `U0123ABCD`. Or an e-mail address: then the person is whichever full member of the workspace Slack has
   * confirmed it for, when a card is sent and each time somebody decides.
   */
  readonly slack: string;
}

/** What identifies the Slack app, and whom it reaches. */
export interface SlackSettings {
  /** The bot token, `xoxb-…`. */
  readonly token: string;
  /** Proves that requests come from Slack. */
  readonly signingSecret: string;
  /** The workspace, `T…`; requests of other workspaces are refused. */
  readonly team: string;
  /** The app, `A…`; requests of other apps are refused. */
  readonly app: string;
  /** The people. Nobody else can decide in Slack. */
  readonly people: readonly SlackPerson[];
  /** A conversation, `C…` or `G…`, that gets every card too. Everyone in it can read them. */
  readonly room?: string;
  /** Where Slack's API is; another address for GovSlack. */
  readonly apiUrl?: string;
}

/** The settings, checked, with the API's address. Throws `invalid-option`, and repeats no secret. */
export function checkSettings(settings: SlackSettings): SlackSettings & { readonly apiUrl: string } {
  const { token, signingSecret, team, app, people, room } = settings;
  if (!/^xox[a-z]-\S+$/.test(token)) throw invalid("token", "The Slack token must be a bot token, xoxb-….");
  if (signingSecret.length < 16)
    throw invalid("signingSecret", "The Slack signing secret is missing or too short.");
  if (!TEAM.test(team)) throw invalid("team", "`team` must be the workspace's id, as in T0123ABCD.");
  if (!APP.test(app)) throw invalid("app", "`app` must be the Slack app's id, as in A0123ABCD.");
  if (room !== undefined && !ROOM.test(room))
    throw invalid("room", "`room` must be a conversation's id, as in C0123ABCD.");
  return { ...settings, people: checkPeople(people), apiUrl: checkApi(settings.apiUrl ?? API) };
}

function checkPeople(people: readonly SlackPerson[]): readonly SlackPerson[] {
  const odd = people.find(({ slack, id }) => !(USER.test(slack) || isAddress(slack)) || id === "");
  if (odd !== undefined)
    throw invalid(
      "people",
      `${odd.id || "A person"} needs an id and a Slack member id, as in U0123ABCD, or an e-mail address.`,
    );
  const checked = people.map((person) => ({ ...person, slack: spelled(person.slack) }));
  if (new Set(checked.map(({ slack }) => slack)).size < checked.length)
    throw invalid("people", "Two people have the same Slack member id or e-mail address.");
  return checked;
}

/** Is the person named by an e-mail address? */
export function isAddress(slack: string): boolean {
  return ADDRESS.test(slack);
}

/** An address with its domain in lower case. Before the @, some servers tell upper from lower case: that stays. */
export function spelled(address: string): string {
  const at = address.lastIndexOf("@") + 1;
  return at === 0 ? address : `${address.slice(0, at)}${address.slice(at).toLowerCase()}`;
}

// The token is sent there: only encrypted, or to this machine.
function checkApi(text: string): string {
  const url = URL.parse(text.endsWith("/") ? text : `${text}/`);
  if (url !== null && isSafe(url) && url.username === "" && url.search === "") return url.href;
  throw invalid("apiUrl", "The address of Slack's API must be an https URL without a user name or a query.");
}

function isSafe({ protocol, hostname }: URL): boolean {
  const isHere = hostname === "127.0.0.1" || hostname === "localhost";
  return protocol === "https:" || (protocol === "http:" && isHere);
}

function invalid(field: string, message: string): CountersignError {
  return new CountersignError("invalid-option", message, { details: { field } });
}
