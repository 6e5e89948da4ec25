import { expect, test } from "vitest";
import { columnsOf, diffOf, emailOf, fileOf, textKind } from "./what-it-is.ts";

test("the author's word counts before the name, and what the text says counts for nothing", () => {
  expect(textKind("note", "x = 1", { display: { note: "code" } })).toBe("code");
  expect(textKind("command", "ls", { display: { command: "text" } })).toBe("plain");
  expect(textKind("shell_command", "ls", undefined)).toBe("shell");
  expect(textKind("note", "--- a\n+++ b\n@@ -1 +1 @@", undefined)).toBe("plain");
  expect(textKind("constructor", "x", undefined)).toBe("plain");
});

test("an edit is found by its declaration or by its names, in either case", () => {
  const args = { path: "a", oldText: "1", newText: "2" };
  expect(diffOf(args, undefined)).toEqual({
    before: { name: "oldText", text: "1" },
    after: { name: "newText", text: "2" },
  });
  expect(diffOf({ a: "1", b: "2" }, { diff: { before: "a", after: "b" } })?.after.text).toBe("2");
  expect(diffOf({ old_text: "1", new_text: 2 }, undefined)).toBeUndefined();
});

test("an edit names its file, unless that is what is edited, or too long to stand above it", () => {
  expect(fileOf({ filePath: "a.md", before: "1" }, ["before", "after"])).toEqual({
    name: "filePath",
    text: "a.md",
  });
  expect(fileOf({ file: "whole text", after: "2" }, ["file", "after"])).toBeUndefined();
  expect(fileOf({ path: "x".repeat(301) }, [])).toBeUndefined();
  expect(fileOf({ path: 5 }, [])).toBeUndefined();
});

test("an e-mail goes to somebody, and has a subject and a body", () => {
  const mail = { to: ["a@x.example", "b@x.example"], subject: "Hi", body: "Dear all", priority: 1 };
  expect(emailOf(mail, undefined)).toEqual({
    head: [
      { name: "to", text: "a@x.example, b@x.example" },
      { name: "subject", text: "Hi" },
    ],
    body: { name: "body", text: "Dear all" },
  });
  expect(emailOf({ to: "a@x.example", message: "Hi" }, undefined)).toBeUndefined();
  expect(emailOf({ to: "a@x.example", note: "Hi" }, { display: { note: "email" } })?.body.text).toBe("Hi");
});

test("like, flat objects make a table, and nothing else does", () => {
  expect(
    columnsOf([
      { a: 1, b: "x" },
      { a: 2, b: "y" },
    ]),
  ).toEqual(["a", "b"]);
  expect(
    columnsOf([
      { a: 1, b: "x" },
      { b: "y", a: 2 },
    ]),
  ).toBeUndefined();
  expect(
    columnsOf([
      { a: 1, b: {} },
      { a: 2, b: {} },
    ]),
  ).toBeUndefined();
  expect(columnsOf([1, 2])).toBeUndefined();
});
