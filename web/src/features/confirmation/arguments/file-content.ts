import type { Confirmation, JsonObject, JsonValue } from "../../../api/types.ts";
import { asObject } from "../forms/form-fields.ts";

/** What the first bytes say that a file is. What the model calls it does not count. */
export type FileKind =
  | {
      readonly of: "image";
      readonly type: "image/png" | "image/jpeg";
      readonly width: number;
      readonly height: number;
    }
  /** Only its first frame could be drawn, and the size of a GIF's is not the one in its head. */
  | { readonly of: "animation"; readonly type: "image/png" | "image/gif" }
  | { readonly of: "pdf" };

export interface FileContent {
  /** The base64 as it was sent. */
  readonly data: string;
  /** The media type that the model gave it. */
  readonly claimed?: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly kind: FileKind;
}

/** A card that draws more takes the memory of the page. */
const MOST_PIXELS = 40_000_000;
/** Names of chunks of a PNG: acTL, IDAT. */
const ANIMATION_CONTROL = 0x6163544c;
const IMAGE_DATA = 0x49444154;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const MEDIA_TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/;
const DATA_URL = /^data:([^;,]{1,121});base64,/;

/**
 * The picture or PDF that an argument holds: base64, a data URL, or `{ mimeType, data }` as the ADK's blobs are, alone or
 * as `inlineData`. Undefined for anything else, so that it is shown as text or fields: what the view of a file would leave
 * out, such as further members, runs too. Nothing is fetched.
 */
export function fileIn(value: JsonValue): FileContent | undefined {
  const sent = typeof value === "string" ? sentAsText(value) : sentAsBlob(value);
  if (sent === undefined || (sent.claimed !== undefined && !MEDIA_TYPE.test(sent.claimed))) return undefined;
  const data = sent.data.replace(/\r?\n/g, "");
  if (!BASE64.test(data) || data.length % 4 !== 0) return undefined;
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const kind = kindOf(bytes);
  return kind === undefined ? undefined : { ...sent, bytes, kind };
}

export interface ShownFile extends FileContent {
  /** It is a picture, and there is room for it. */
  readonly isDrawn: boolean;
}

/** The files among the arguments, by name. All the pictures that are drawn share one limit. */
export function filesIn(args: JsonObject, layout: Confirmation["layout"]): ReadonlyMap<string, ShownFile> {
  const files = new Map<string, ShownFile>();
  let left = MOST_PIXELS;
  for (const [name, value] of Object.entries(args)) {
    const file = layout?.display?.[name] === "file" ? fileIn(value) : undefined;
    if (file === undefined) continue;
    const pixels = file.kind.of === "image" ? file.kind.width * file.kind.height : 0;
    const isDrawn = file.kind.of === "image" && pixels <= left;
    if (isDrawn) left -= pixels;
    files.set(name, { ...file, isDrawn });
  }
  return files;
}

type Sent = Pick<FileContent, "data" | "claimed">;

function sentAsText(text: string): Sent {
  const [start = "", claimed] = DATA_URL.exec(text) ?? [];
  return { data: text.slice(start.length), ...(claimed === undefined ? {} : { claimed }) };
}

function sentAsBlob(value: JsonValue): Sent | undefined {
  const outer = asObject(value);
  const blob = hasOnly(outer, ["inlineData"]) ? asObject(outer?.["inlineData"]) : outer;
  if (!hasOnly(blob, ["mimeType", "data"])) return undefined;
  const { mimeType: claimed, data } = blob ?? {};
  return typeof claimed === "string" && typeof data === "string" ? { data, claimed } : undefined;
}

function hasOnly(object: JsonObject | undefined, names: readonly string[]): boolean {
  const own = Object.keys(object ?? {});
  return own.length === names.length && names.every((name) => own.includes(name));
}

function kindOf(bytes: Uint8Array<ArrayBuffer>): FileKind | undefined {
  const view = new DataView(bytes.buffer);
  const starts = (...wanted: readonly number[]): boolean => wanted.every((byte, at) => bytes[at] === byte);
  if (starts(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a) && bytes.length >= 24) return pngOf(view);
  if (starts(0x47, 0x49, 0x46, 0x38)) return { of: "animation", type: "image/gif" };
  if (starts(0xff, 0xd8, 0xff)) return jpegOf(view);
  return starts(0x25, 0x50, 0x44, 0x46, 0x2d) ? { of: "pdf" } : undefined;
}

function pngOf(view: DataView): FileKind {
  for (let at = 8; at + 8 <= view.byteLength; at += 12 + view.getUint32(at)) {
    const chunk = view.getUint32(at + 4);
    if (chunk === ANIMATION_CONTROL) return { of: "animation", type: "image/png" };
    if (chunk === IMAGE_DATA) break;
  }
  return { of: "image", type: "image/png", width: view.getUint32(16), height: view.getUint32(20) };
}

/** The size of a JPEG is in the first of its frame headers. */
function jpegOf(view: DataView): FileKind | undefined {
  for (let at = 2; at + 9 < view.byteLength; ) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    // Markers without a length, which decoders skip; and the scan, which has no business before the frame.
    if (marker < 0xc0 || (marker >= 0xd0 && marker <= 0xda) || marker === 0xff) return undefined;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame)
      return {
        of: "image",
        type: "image/jpeg",
        width: view.getUint16(at + 7),
        height: view.getUint16(at + 5),
      };
    at += 2 + view.getUint16(at + 2);
  }
  return undefined;
}

/** `34 kB`, for a person. */
export function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
