import { CountersignError } from "../../protocol/index.ts";
import type { ChannelPerson } from "../people.ts";

const ADDRESS = /^[^\s@<>()[\]\\,;:"]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?$/;
const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "[::1]", "localhost"]);
const SENDER = /^(?:([^<>"\p{Cc}]{1,100})\s)?<?([^<>\s]+)>?$/u;

/** A person with a mailbox. */
export interface EmailPerson extends ChannelPerson {
  readonly email: string;
}

/** How mails are sent, and to whom. */
export interface EmailSettings {
  /** `smtps://user:password@host` or `smtp://host:587`. Except to this machine, the connection is always encrypted. */
  readonly smtp: string;
  /** `approvals@example.com`, or `Approvals <approvals@example.com>`. Bounces go there. */
  readonly from: string;
  readonly people: readonly EmailPerson[];
  /** An address that is told about calls that ran without a question and whose outcome is unknown. */
  readonly operator?: string;
  /**
   * Where people reach this server, for links that decide where a rule allows that. Without it, or over http to another
   * machine, no mail has such a link.
   */
  readonly publicUrl?: string;
}

/** The settings, checked and taken apart. */
export interface CheckedSettings {
  readonly smtp: URL;
  readonly from: { readonly name: string; readonly address: string };
  /** The domain of message ids. */
  readonly domain: string;
  readonly people: readonly EmailPerson[];
  readonly operator?: string;
  readonly publicUrl?: URL;
}

/** Throws `invalid-option`, and repeats no password. */
export function checkSettings(settings: EmailSettings): CheckedSettings {
  const { smtp, from, people, operator } = settings;
  const url = checkServer(smtp);
  const publicUrl = settings.publicUrl === undefined ? undefined : checkPublicUrl(settings.publicUrl);
  const [, name = "", address = ""] = SENDER.exec(from) ?? [];
  if (!ADDRESS.test(address))
    throw invalid("from", "`from` must be a mail address, or a name and <an address>.");
  checkPeople(people);
  if (operator !== undefined && !ADDRESS.test(operator))
    throw invalid("operator", "`operator` must be a mail address.");
  return {
    smtp: url,
    from: { name: name.trim(), address },
    domain: address.slice(address.lastIndexOf("@") + 1),
    people,
    ...(operator === undefined ? {} : { operator }),
    ...(publicUrl === undefined ? {} : { publicUrl }),
  };
}

// Over http, whoever reads or changes what is sent could decide.
function checkPublicUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol))
    throw invalid("publicUrl", "`publicUrl` must be an http or https URL.");
  return url.protocol === "https:" || LOOPBACK.has(url.hostname) ? url : undefined;
}

function checkServer(smtp: string): URL {
  const url = URL.parse(smtp);
  if (url === null || !["smtp:", "smtps:"].includes(url.protocol) || url.hostname === "")
    throw invalid("smtp", "The mail server's address must begin with smtps:// or smtp://, and name a host.");
  if (!isEncoded(url.username) || !isEncoded(url.password))
    throw invalid("smtp", "Write a % in the mail server's user name and password as %25.");
  return url;
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function checkPeople(people: readonly EmailPerson[]): void {
  const odd = people.find((person) => !ADDRESS.test(person.email) || person.id === "");
  if (odd !== undefined) throw invalid("people", `${odd.id || "A person"} needs an id and a mail address.`);
  const addresses = people.map(({ email }) => email.toLowerCase());
  if (new Set(addresses).size < addresses.length)
    throw invalid("people", "Two people have the same mail address.");
}

function invalid(field: string, message: string): CountersignError {
  return new CountersignError("invalid-option", message, { details: { field } });
}
