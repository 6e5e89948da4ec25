import type { Confirmation } from "../../engine/index.ts";
import { displayText } from "../../protocol/index.ts";
import { digestTitle } from "../digest.ts";
import { hintOf } from "../subject.ts";
import { escape, type MailText } from "./mail.ts";

const MOST_LISTED = 50;
const MOST_NAME = 80;
const MOST_HINT = 200;
const LOGGED_IN = "Opening a link decides nothing. You decide in the inbox, after you have logged in.";

/** One mail about all that waits for somebody. What a model or a stranger wrote is plain text in it. */
export function digestMail(
  waiting: readonly Confirmation[],
  linkFor: ((confirmation: string) => string) | undefined,
): MailText {
  const title = digestTitle(waiting.length);
  const listed = waiting
    .slice(0, MOST_LISTED)
    .map((about) => ({ ...wordsOf(about), link: linkFor?.(about.id) }));
  const left = waiting.length - listed.length;
  const more = left === 0 ? [] : [`${left} more wait in the inbox.`];
  const text = listed.flatMap(({ tool, facts, link }, place) => [
    `${place + 1}. ${tool}`,
    ...facts.map((fact) => `    ${fact}`),
    ...(link === undefined ? [] : [`    ${link}`]),
    "",
  ]);
  return {
    subject: title,
    text: [`${title}.`, "", ...text, ...more, LOGGED_IN, ""].join("\n"),
    html: htmlOf(title, listed, [...more, LOGGED_IN]),
  };
}

interface Listed {
  readonly tool: string;
  readonly facts: readonly string[];
  readonly link: string | undefined;
}

function wordsOf(about: Confirmation): Omit<Listed, "link"> {
  const { tool, user, app, expiresAt } = about;
  return {
    tool: line(tool, MOST_NAME),
    facts: [
      line(hintOf(about), MOST_HINT),
      `Asked by ${line(user, MOST_NAME)} in ${line(app, MOST_NAME)}`,
      ...(expiresAt === undefined ? [] : [`Expires ${expiresAt}`]),
    ].filter((fact) => fact !== ""),
  };
}

function line(text: string, maxLength: number): string {
  return displayText(text, { newlines: "show", maxLength });
}

function htmlOf(title: string, listed: readonly Listed[], closing: readonly string[]): string {
  const rows = listed.map(({ tool, facts, link }) => {
    const name =
      link !== undefined && /^https?:\/\//.test(link)
        ? `<a href="${escape(link)}">${escape(tool)}</a>`
        : escape(tool);
    const told = facts.map(
      (fact) => `<br><span dir="auto" style="unicode-bidi:isolate">${escape(fact)}</span>`,
    );
    return `<li style="margin:0 0 12px;overflow-wrap:anywhere"><strong>${name}</strong>${told.join("")}</li>`;
  });
  return (
    `<!doctype html><html lang="en"><body style="font-family:system-ui,sans-serif;color:#111827">` +
    `<p><strong>${escape(title)}.</strong></p><ol>${rows.join("")}</ol>` +
    `<p style="color:#6b7280">${closing.map(escape).join("<br>")}</p></body></html>`
  );
}
