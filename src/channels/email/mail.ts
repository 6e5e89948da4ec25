import type { Confirmation } from "../../engine/index.ts";
import { displayText, type JsonValue } from "../../protocol/index.ts";
import type { Notice } from "../channel.ts";
import { statusWords } from "../status-words.ts";
import { hintOf } from "../subject.ts";
import { voterWords } from "../voter-words.ts";

const MOST_VALUE = 20_000;
const MOST_TOOL = 80;

/** A mail, without whom it is to. */
export interface MailText {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** The links of a mail: to the card in the inbox, and one that decides without a login. */
export interface MailLinks {
  readonly link?: string | undefined;
  readonly decision?: string | undefined;
}

/** The mail about a notice. What a model or a stranger wrote is plain text in it, and nothing in it is fetched. */
export function mailOf(
  about: Notice["about"],
  { isFirst, ...links }: MailLinks & { readonly isFirst: boolean },
): MailText {
  const tool = displayText(about.tool, { newlines: "show", maxLength: MOST_TOOL });
  const rows = rowsOf(about, MOST_VALUE);
  const closing = closingOf(about, links);
  // What goes on in a further line is indented, so that it cannot pretend to be a line of ours.
  const lines = rows.map(([name, value]) => `${name}: ${value.replaceAll("\n", "\n    ")}`);
  return {
    subject: `${isFirst ? "" : "Re: "}Approval of ${tool}`,
    text: [statusOf(about), "", ...lines, "", ...closing, ""].join("\n"),
    html: htmlOf({ title: statusOf(about), rows, closing, links }),
  };
}

/** How it stands, in one sentence. */
export function statusOf(about: Notice["about"]): string {
  if ("id" in about) return statusWords(about, "This call waits for your decision.");
  return `The outcome of this call is ${about.status}. Nobody was asked about it.`;
}

/** A name and what is said of it. */
export type Row = readonly [name: string, value: string];

/** All of a question, whole: what somebody must read before they decide it. */
export function cardRows(about: Confirmation): readonly Row[] {
  const votes = about.votes.map((vote) => `${voterWords(vote)}: ${vote.confirmed ? "approved" : "denied"}`);
  return [
    ...rowsOf(about, Number.POSITIVE_INFINITY),
    ...textRow("Why it is asked", about.why.join("\n")),
    ...textRow("Votes so far", votes.join("\n")),
  ];
}

function rowsOf(about: Notice["about"], most: number): readonly Row[] {
  const agents = "path" in about ? about.path.join(" > ") : about.agent;
  return [
    ["Tool", line(about.tool)],
    ...textRow("Question", hintOf(about), most),
    ...Object.entries(about.args).map(([name, value]): Row => [`- ${line(name)}`, written(value, most)]),
    ...("payload" in about && about.payload !== undefined
      ? [["Payload", written(about.payload, most)] as const]
      : []),
    ["Agent", line(agents)],
    ["App", line(about.app)],
    ["Asked by", line(about.user)],
    ...("id" in about ? statusRows(about) : []),
  ];
}

function statusRows({ status, source, decision, withdrawal, expiresAt }: Confirmation): readonly Row[] {
  const by = decision === undefined ? "" : `${voterWords(decision)}, ${decision.at}`;
  return [
    ...textRow("From", source),
    ...textRow("Decided by", by),
    ...textRow("Reason", decision?.reason ?? withdrawal),
    ...textRow("Expires", status === "requested" ? expiresAt : undefined),
  ];
}

function textRow(name: string, text = "", most = MOST_VALUE): readonly Row[] {
  return text === "" ? [] : [[name, shortened(text, most)]];
}

function shortened(text: string, most: number): string {
  return displayText(text, most === Number.POSITIVE_INFINITY ? {} : { maxLength: most });
}

function line(text: string): string {
  return displayText(text, { newlines: "show", maxLength: MOST_VALUE });
}

// A text is shown as JSON writes it, so that it cannot pretend to be the next line.
function written(value: JsonValue, most: number): string {
  const text = displayText(JSON.stringify(value), { newlines: "show" });
  return text.length <= most ? text : `${shortened(text, most)} Open it in the inbox to read all of it.`;
}

const LOGGED_IN = "The link only shows it. You decide there, after you have logged in.";
const WHOEVER =
  "Anyone who has that link can decide in your name, once, without a login. Do not forward this mail.";

function closingOf(about: Notice["about"], { link, decision }: MailLinks): readonly string[] {
  const isOpen = "id" in about && about.status === "requested";
  const byLink =
    decision === undefined ? [] : [`Read it and decide without logging in: ${decision}`, WHOEVER];
  if (link === undefined) return ["Open the inbox to decide.", ...byLink];
  return isOpen ? [`Open it to decide: ${link}`, LOGGED_IN, ...byLink] : [`Open it: ${link}`];
}

interface Page {
  readonly title: string;
  readonly rows: readonly Row[];
  readonly closing: readonly string[];
  readonly links: MailLinks;
}

function htmlOf({ title, rows, closing, links }: Page): string {
  const cells = rows.map(
    ([name, value]) =>
      `<tr><th align="left" valign="top" style="padding:4px 12px 4px 0;font-weight:600">${escape(name)}</th>` +
      `<td dir="auto" style="padding:4px 0;white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate">${escape(value)}</td></tr>`,
  );
  const button = buttonOf("Read and decide", links.decision) + buttonOf("Open in the inbox", links.link);
  return (
    `<!doctype html><html lang="en"><body style="font-family:system-ui,sans-serif;color:#111827">` +
    `<p><strong>${escape(title)}</strong></p><table role="presentation">${cells.join("")}</table>${button}` +
    `<p style="color:#6b7280">${closing.map(escape).join("<br>")}</p></body></html>`
  );
}

function buttonOf(words: string, link: string | undefined): string {
  if (link === undefined || !/^https?:\/\//.test(link)) return "";
  return `<p><a href="${escape(link)}" style="display:inline-block;padding:8px 16px;background:#1f2937;color:#ffffff;text-decoration:none;border-radius:6px">${words}</a></p>`;
}

const ENTITIES: { readonly [character: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** The text as HTML shows it. */
export function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}
