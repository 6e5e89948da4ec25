import { expect, test } from "vitest";
import { parseReceipts } from "./receipts-file.ts";

test("a file names targets, each of one kind, and how often", () => {
  const text = `
receipts:
  - { name: worm, file: /mnt/worm/receipts.jsonl }
  - { name: auditor, url: https://audit.example.com/receipts }
  - { name: history, git: /srv/receipts, push: origin }
every: 15m
`;
  expect(parseReceipts("r.yaml", text)).toEqual({
    targets: [
      { kind: "file", name: "worm", path: "/mnt/worm/receipts.jsonl" },
      { kind: "http", name: "auditor", url: new URL("https://audit.example.com/receipts") },
      { kind: "git", name: "history", folder: "/srv/receipts", push: "origin" },
    ],
    everyMs: 900_000,
  });
  expect(parseReceipts("r.yaml", "receipts: [{ name: a, file: b }]").everyMs).toBe(3_600_000);
});

test.each([
  ["receipts: []", "receipts is empty"],
  ["every: 1h", "lacks receipts"],
  ["receipts: [{ file: a }]", "a target lacks name"],
  ["receipts: [{ name: A, file: a }]", "lower-case letters"],
  ["receipts: [{ name: ../a, git: a }]", "lower-case letters"],
  ["receipts: [{ name: a }]", "needs one of file, url, git"],
  ["receipts: [{ name: a, file: b, git: c }]", "needs one of file, url, git"],
  ["receipts: [{ name: a, file: b }, { name: a, file: c }]", "two targets are named a"],
  ["receipts: [{ name: a, file: b, push: origin }]", "push is only for a target with git"],
  ["receipts: [{ name: a, git: b, push: --force }]", "the name of a remote"],
  ["receipts: [{ name: a, git: b, push: 'https://u:p@x.example/r' }]", "the name of a remote"],
  ["receipts: [{ name: a, url: 'http://audit.example.com/' }]", "must be an https URL"],
  ["receipts: [{ name: a, url: 'https://ana:pw@audit.example.com/' }]", "must be an https URL"],
  ["receipts: [{ name: a, url: 'file:///etc/passwd' }]", "must be an https URL"],
  ["receipts: [{ name: a, file: b }]\nevery: often", 'every is "often"'],
])("refuses %j with its place", (text, problem) => {
  expect(() => parseReceipts("r.yaml", text)).toThrow(problem);
  expect(() => parseReceipts("r.yaml", text)).toThrow(/r\.yaml:\d+:\d+/);
});
