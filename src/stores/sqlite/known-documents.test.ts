import { expect, test } from "vitest";
import type { SessionDocument } from "../../engine/index.ts";
import { KnownDocuments } from "./known-documents.ts";

const NAME = { app: "bank", user: "ana", id: "s1" };

function documentOf(bytes: number, name = NAME): SessionDocument {
  const chain = { n: 1, hash: "0-a" };
  const head = { ...name, nextSeq: 1, open: 0, ready: 0, bytes, chain, createdAt: 1, updatedAt: 1 };
  return { head, frames: [], calls: [], confirmations: [], steps: [] };
}

test("a text is read once, until it is another or of another name", () => {
  const known = new KnownDocuments();
  const written = documentOf(1);
  const text = known.write("s", written);
  expect(known.read("s", NAME, text)).toBe(written);
  const changed = text.replace('"bytes":1', '"bytes":2');
  expect(known.read("s", NAME, changed)).toEqual(documentOf(2));
  const before = known.read("s", NAME, text);
  expect(before).toEqual(written);
  expect(known.read("s", NAME, text)).toBe(before);
  const renamed = { ...NAME, user: "bo" };
  expect(known.read("s", renamed, text)).toEqual(documentOf(1, renamed));
  expect(known.read("other", NAME, text)).not.toBe(before);
});

test("a document whose commit is refused is not taken for what is stored", () => {
  const known = new KnownDocuments();
  const stored = known.write("s", documentOf(1));
  known.write("s", documentOf(2));
  expect(known.read("s", NAME, stored)).toEqual(documentOf(1));
});

test("no more is kept than fits, the oldest go first", () => {
  const length = new KnownDocuments().write("a", documentOf(1)).length;
  const known = new KnownDocuments(2 * length);
  const [a, b, c] = [documentOf(1), documentOf(2), documentOf(3)];
  const texts = [known.write("a", a), known.write("b", b), known.write("c", c)] as const;
  expect(known.size).toBe(2);
  expect(known.read("b", NAME, texts[1])).toBe(b);
  expect(known.read("a", NAME, texts[0])).not.toBe(a);
  const small = new KnownDocuments(length - 1);
  small.write("a", a);
  expect(small.size).toBe(0);
});
