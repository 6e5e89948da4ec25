/** What Slack's reference says about blocks, as far as our cards use them. Gives Slack's error, or nothing. */

type Json = { readonly [name: string]: unknown };

const TEXT_LIMITS: { readonly [place: string]: number } = { section: 3_000, header: 150, context: 3_000 };

export function faultOf(blocks: unknown): string | undefined {
  if (!Array.isArray(blocks)) return "invalid_blocks_format";
  if (blocks.length > 50) return "invalid_blocks";
  const ids = blocks.map((block: Json) => block["block_id"]).filter((id) => id !== undefined);
  if (new Set(ids).size < ids.length || ids.some((id) => JSON.stringify(id).length > 257))
    return "invalid_blocks";
  return blocks.every((block: Json) => isBlock(block)) ? undefined : "invalid_blocks";
}

function isBlock(block: Json): boolean {
  const most = TEXT_LIMITS[String(block["type"])] ?? 0;
  switch (block["type"]) {
    case "section":
    case "header":
      return isText(block["text"] as Json, most);
    case "context":
      return hasElements(block, 10, (element) => isText(element, most));
    case "actions":
      return hasElements(block, 25, isButton);
    case "input":
      return isText(block["label"] as Json, 2_000) && typeof block["element"] === "object";
    default:
      return false;
  }
}

function hasElements(block: Json, most: number, isGood: (element: Json) => boolean): boolean {
  const elements = block["elements"] as readonly Json[];
  return elements.length > 0 && elements.length <= most && elements.every(isGood);
}

function isText(text: Json, most: number): boolean {
  const { type, text: words } = text;
  return (
    (type === "plain_text" || type === "mrkdwn") &&
    typeof words === "string" &&
    words.length > 0 &&
    words.length <= most
  );
}

function isButton(element: Json): boolean {
  const { type, value = "", url = "" } = element;
  return (
    type === "button" &&
    isText(element["text"] as Json, 75) &&
    String(value).length <= 2_000 &&
    String(url).length <= 3_000
  );
}
