import type { Confirmation } from "../../engine/index.ts";
import { displayText, type JsonValue } from "../../protocol/index.ts";
import type { Notice } from "../channel.ts";

const MOST_VALUE = 20_000;
const MOST_TOOL = 80;

/** A mail, without whom it is to. */
export interface MailText {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const STATUS_WORDS: Readonly<Record<Confirmation["status"], string>> = {
  requested: "This call waits for your decision.",
  approved: "Approved. The call has not started yet.",
  executing: "Approved. The call is running.",
  succeeded: "Approved. The call succeeded.",
  failed: "Approved. The call failed.",
  unknown: "Approved. The outcome of the call is unknown: somebody must find out and settle it in the inbox.",
  denied: "Denied. The call did not run.",
  expired: "Expired. Nobody decided in time, and the call did not run.",
  cancelled: "Withdrawn. The call did not run.",
};

/** The mail about a notice. What a model or a stranger wrote is plain text in it, and nothing in it is fetched. */
export function mailOf(
  { about, link }: Pick<Notice, "about" | "link">,
  { isFirst }: { readonly isFirst: boolean },
): MailText {
  const tool = displayText(about.tool, { newlines: "show", maxLength: MOST_TOOL });
  const rows = rowsOf(about);
  const closing = link === undefined ? ["Open the inbox to decide."] : closingOf(about, link);
  // What goes on in a further line is indented, so that it cannot pretend to be a line of ours.
  const lines = rows.map(([name, value]) => `${name}: ${value.replaceAll("\n", "\n    ")}`);
  return {
    subject: `${isFirst ? "" : "Re: "}Approval of ${tool}`,
    text: [statusOf(about), "", ...lines, "", ...closing, ""].join("\n"),
    html: htmlOf({ title: statusOf(about), rows, closing, link }),
  };
}

function statusOf(about: Notice["about"]): string {
  if ("id" in about) return STATUS_WORDS[about.status];
  return `The outcome of this call is ${about.status}. Nobody was asked about it.`;
}

type Row = readonly [name: string, value: string];

function rowsOf(about: Notice["about"]): readonly Row[] {
  const agents = "path" in about ? about.path.join(" > ") : about.agent;
  return [
    ["Tool", line(about.tool)],
    ...textRow("Question", "hint" in about ? about.hint : ""),
    ...Object.entries(about.args).map(([name, value]): Row => [`- ${line(name)}`, written(value)]),
    ...("payload" in about && about.payload !== undefined
      ? [["Payload", written(about.payload)] as const]
      : []),
    ["Agent", line(agents)],
    ["App", line(about.app)],
    ["Asked by", line(about.user)],
    ...("id" in about ? standingOf(about) : []),
  ];
}

function standingOf({ status, source, decision, withdrawal, expiresAt }: Confirmation): readonly Row[] {
  const by = decision === undefined ? "" : `${decision.by.id}, ${decision.at}`;
  return [
    ...textRow("From", source),
    ...textRow("Decided by", by),
    ...textRow("Reason", decision?.reason ?? withdrawal),
    ...textRow("Expires", status === "requested" ? expiresAt : undefined),
  ];
}

function textRow(name: string, text = ""): readonly Row[] {
  return text === "" ? [] : [[name, displayText(text, { maxLength: MOST_VALUE })]];
}

function line(text: string): string {
  return displayText(text, { newlines: "show", maxLength: MOST_VALUE });
}

// A text is shown as JSON writes it, so that it cannot pretend to be the next line.
function written(value: JsonValue): string {
  const text = displayText(JSON.stringify(value), { newlines: "show" });
  return text.length <= MOST_VALUE
    ? text
    : `${displayText(text, { maxLength: MOST_VALUE })} Open it in the inbox to read all of it.`;
}

function closingOf(about: Notice["about"], link: string): readonly string[] {
  const isOpen = "id" in about && about.status === "requested";
  return isOpen
    ? [`Open it to decide: ${link}`, "The link only shows it. You decide there, after you have logged in."]
    : [`Open it: ${link}`];
}

interface Page {
  readonly title: string;
  readonly rows: readonly Row[];
  readonly closing: readonly string[];
  readonly link: string | undefined;
}

function htmlOf({ title, rows, closing, link }: Page): string {
  const cells = rows.map(
    ([name, value]) =>
      `<tr><th align="left" valign="top" style="padding:4px 12px 4px 0;font-weight:600">${escape(name)}</th>` +
      `<td dir="auto" style="padding:4px 0;white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate">${escape(value)}</td></tr>`,
  );
  const button =
    link !== undefined && /^https?:\/\//.test(link)
      ? `<p><a href="${escape(link)}" style="display:inline-block;padding:8px 16px;background:#1f2937;color:#ffffff;text-decoration:none;border-radius:6px">Open in the inbox</a></p>`
      : "";
  return (
    `<!doctype html><html lang="en"><body style="font-family:system-ui,sans-serif;color:#111827">` +
    `<p><strong>${escape(title)}</strong></p><table role="presentation">${cells.join("")}</table>${button}` +
    `<p style="color:#6b7280">${closing.map(escape).join("<br>")}</p></body></html>`
  );
}

const ENTITIES: { readonly [character: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}
