import { expect, test } from "vitest";
import { fileIn, filesIn, sizeOf } from "./file-content.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const base64 = (...bytes: readonly number[]): string => btoa(String.fromCharCode(...bytes));

test("a file is what its first bytes say, not what it is called", () => {
  const png = { of: "image", type: "image/png", width: 1, height: 1 };
  expect(fileIn(PNG)?.kind).toEqual(png);
  expect(fileIn(`data:text/html;base64,${PNG}`)?.kind).toEqual(png);
  expect(fileIn({ mimeType: "image/svg+xml", data: PNG })?.kind).toEqual(png);
  expect(fileIn({ inlineData: { mimeType: "image/png", data: PNG } })?.kind).toEqual(png);
  expect(fileIn(btoa("%PDF-1.7\n"))?.kind).toEqual({ of: "pdf" });
});

test("a JPEG's size is in its frame header; one that has none, or hides it, is no picture", () => {
  const head = [0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 1];
  const frame = [0xff, 0xc0, 0, 11, 8, 0, 20, 0, 30, 1, 0, 0, 0];
  expect(fileIn(base64(...head, ...frame, 0, 0, 0))?.kind).toEqual({
    of: "image",
    type: "image/jpeg",
    width: 30,
    height: 20,
  });
  expect(fileIn(base64(...head, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))).toBeUndefined();
  // A decoder skips the first of these two bytes; the length behind them would lead past the frame.
  const hiding = [0xff, 0xd8, 0xff, 0xff, 0xc0, 0, 11, 8, 0xff, 0xff, 0xff, 0xff];
  const found = [...hiding, ...Array.from({ length: 0xc000 - 8 }, () => 0), ...frame, 0, 0, 0];
  expect(fileIn(base64(...found))).toBeUndefined();
});

test("what may move is not drawn: a GIF, whose frames may be larger than it says, and an animated PNG", () => {
  const gif = base64(0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 1, 0, 1, 0);
  expect(fileIn(gif)?.kind).toEqual({ of: "animation", type: "image/gif" });
  const control = String.fromCharCode(0, 0, 0, 8, 0x61, 0x63, 0x54, 0x4c, 0, 0, 0, 2, 0, 0, 0, 0, 1, 2, 3, 4);
  const still = atob(PNG);
  const moving = btoa(still.slice(0, 33) + control + still.slice(33));
  expect(fileIn(moving)?.kind).toEqual({ of: "animation", type: "image/png" });
});

test("the pictures of a card share one limit of pixels", () => {
  const sized = (width: number, height: number): string => {
    const bytes = Uint8Array.from(atob(PNG), (letter) => letter.charCodeAt(0));
    new DataView(bytes.buffer).setUint32(16, width);
    new DataView(bytes.buffer).setUint32(20, height);
    return base64(...bytes);
  };
  const args = { a: sized(5000, 5000), b: sized(5000, 5000), c: sized(3000, 5000), d: PNG, other: PNG };
  const display = { a: "file", b: "file", c: "file", d: "file" } as const;
  const drawn = [...filesIn(args, { display })].map(([name, { isDrawn }]) => [name, isDrawn]);
  expect(drawn).toEqual([
    ["a", true],
    ["b", false],
    ["c", true],
    ["d", false],
  ]);
});

test("an object is a file only if nothing else is in it", () => {
  const blob = { mimeType: "image/png", data: PNG };
  const more = [
    { inlineData: blob, to: "x@evil.example", publish: true },
    { ...blob, to: "x@evil.example" },
    { ...blob, displayName: "a.png" },
    { inlineData: { ...blob, publish: true } },
    { inlineData: { inlineData: blob } },
    { mimeType: "image/png", data: `data:text/html;base64,${PNG}` },
    [blob],
  ];
  expect(more.map(fileIn)).toEqual(more.map(() => undefined));
});

test("what a file is called is kept; a name that is no media type makes it text", () => {
  expect(fileIn({ mimeType: "text/html", data: PNG })?.claimed).toBe("text/html");
  expect(fileIn({ inlineData: { mimeType: "text/html", data: PNG } })?.claimed).toBe("text/html");
  expect(fileIn(`data:image/svg+xml;base64,${PNG}`)?.claimed).toBe("image/svg+xml");
  expect(fileIn(PNG)?.claimed).toBeUndefined();
  const strange = ["", "send it to x@evil.example", `image/${"x".repeat(100)}`, "image/png;to=x"];
  for (const mimeType of strange) {
    expect(fileIn({ mimeType, data: PNG })).toBeUndefined();
    expect(fileIn(`data:${mimeType};base64,${PNG}`)).toBeUndefined();
  }
});

test("text that could be base64 is text, unless it is a picture or a PDF", () => {
  const texts = [
    "/etc/shadow1",
    "DROPTABLEusr",
    btoa("<script>alert(1)</script>"),
    `${PNG.slice(0, 8)} ${PNG.slice(8)}`,
  ];
  expect(texts.map(fileIn)).toEqual(texts.map(() => undefined));
  expect(fileIn(`data:image/png;base64,${btoa("<svg onload=alert(1)>")}`)).toBeUndefined();
  expect(fileIn(`${PNG.slice(0, 8)}\r\n${PNG.slice(8)}\n`)?.kind.of).toBe("image");
});

test("an address, broken base64 or another object is no file", () => {
  const none = [
    "https://evil.example/a.png",
    "data:image/png,abc",
    "a b!",
    "abc",
    "",
    5,
    null,
    { data: PNG },
  ];
  expect(none.map(fileIn)).toEqual(none.map(() => undefined));
});

test("sizes are told as a person would", () => {
  expect([12, 34_400, 2_500_000].map(sizeOf)).toEqual(["12 bytes", "34 kB", "2.5 MB"]);
});
