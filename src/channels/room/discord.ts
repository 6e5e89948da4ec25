import type { JsonObject } from "../../protocol/index.ts";
import type { Summary } from "./summary.ts";

const MARKUP = /[\\`*_~|<>[\]()#:@-]/g;

/** A message for a Discord webhook. Markup of strangers is escaped, and nobody is mentioned. */
export function discordBody({ title, lines, link }: Summary): JsonObject {
  const description = lines.map((text) => text.replace(MARKUP, String.raw`\$&`)).join("\n");
  return {
    content: title,
    allowed_mentions: { parse: [] },
    embeds: [{ title: "Open in the inbox", description, ...(link === undefined ? {} : { url: link }) }],
  };
}
