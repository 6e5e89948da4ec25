import type { JsonObject } from "../../protocol/index.ts";
import type { Summary } from "./summary.ts";

/** A message for Telegram's `sendMessage`. What strangers wrote is preformatted, so nothing in it becomes a link or a mention. */
export function telegramBody({ title, lines, link }: Summary, chat: string): JsonObject {
  const quoted = lines.join("\n");
  const text = `${title}\n${quoted}${link === undefined ? "" : `\n${link}`}`;
  return {
    chat_id: chat,
    text,
    // Offsets and lengths are in UTF-16 units, as those of JavaScript are.
    entities: [{ type: "pre", offset: title.length + 1, length: quoted.length }],
    link_preview_options: { is_disabled: true },
  };
}
