import type { JsonObject } from "../../protocol/index.ts";
import type { Summary } from "./summary.ts";

/** An adaptive card for a Workflows webhook of Microsoft Teams. Text runs have no markup. */
export function teamsBody({ title, lines, link }: Summary): JsonObject {
  const content = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    body: [richText(title, { weight: "Bolder", size: "Medium" }), ...lines.map((text) => richText(text, {}))],
    actions: link === undefined ? [] : [{ type: "Action.OpenUrl", title: "Open in the inbox", url: link }],
  };
  const contentType = "application/vnd.microsoft.card.adaptive";
  return { type: "message", attachments: [{ contentType, contentUrl: null, content }] };
}

function richText(text: string, style: JsonObject): JsonObject {
  return { type: "RichTextBlock", inlines: [{ type: "TextRun", text, ...style }] };
}
