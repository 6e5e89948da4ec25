import type { JsonValue } from "../../../api/types.ts";
import { asObject } from "../forms/form-fields.ts";

/** What the first bytes say that a file is. What the model calls it does not count. */
export type FileKind =
  | {
      readonly of: "image";
      readonly type: "image/png" | "image/jpeg" | "image/gif";
      readonly width: number;
      readonly height: number;
    }
  | { readonly of: "pdf" }
  | { readonly of: "other" };

export interface FileContent {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly kind: FileKind;
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const DATA_URL = /^data:[^,]{0,200};base64,/;

/**
 * The content of a file that an argument holds: base64, a data URL, or `{ mimeType, data }` as the ADK's blobs are, alone or
 * as `inlineData`. Undefined for anything else, an address included: nothing is fetched.
 */
export function fileIn(value: JsonValue): FileContent | undefined {
  const text = typeof value === "string" ? value : dataOf(value);
  const data = text?.replace(DATA_URL, "").replace(/\s+/g, "") ?? "";
  if (!BASE64.test(data) || data.length % 4 !== 0) return undefined;
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  return { bytes, kind: kindOf(bytes) };
}

function dataOf(value: JsonValue): string | undefined {
  const blob = asObject(asObject(value)?.["inlineData"]) ?? asObject(value);
  const data = blob?.["data"];
  const isBlob = typeof blob?.["mimeType"] === "string" && Object.keys(blob).length <= 3;
  return isBlob && typeof data === "string" ? data : undefined;
}

function kindOf(bytes: Uint8Array<ArrayBuffer>): FileKind {
  const view = new DataView(bytes.buffer);
  const starts = (...wanted: readonly number[]): boolean => wanted.every((byte, at) => bytes[at] === byte);
  if (starts(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a) && bytes.length >= 24)
    return { of: "image", type: "image/png", width: view.getUint32(16), height: view.getUint32(20) };
  if (starts(0x47, 0x49, 0x46, 0x38) && bytes.length >= 10)
    return {
      of: "image",
      type: "image/gif",
      width: view.getUint16(6, true),
      height: view.getUint16(8, true),
    };
  if (starts(0xff, 0xd8, 0xff)) return jpegOf(view) ?? { of: "other" };
  if (starts(0x25, 0x50, 0x44, 0x46, 0x2d)) return { of: "pdf" };
  return { of: "other" };
}

/** The size of a JPEG is in the first of its frame headers. */
function jpegOf(view: DataView): FileKind | undefined {
  for (let at = 2; at + 9 < view.byteLength; ) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
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
