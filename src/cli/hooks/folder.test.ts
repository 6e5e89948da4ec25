import { expect, test } from "vitest";
import { parseJson } from "../../protocol/index.ts";
import { boundTo, inputOf } from "./folder.ts";

test("the folder is an argument that nobody may change, and the agent does not get it back", () => {
  const bound = boundTo("/home/ana/shop", { command: "ls", cwd: "src" });
  expect(bound).toEqual({
    args: { command: "ls", cwd: "src", agent_cwd: "/home/ana/shop" },
    amendable: ["command", "cwd"],
  });
  expect(inputOf(bound.args, "/home/ana/shop")).toEqual({ command: "ls", cwd: "src" });
});

test("an input that names the folder itself is refused", () => {
  expect(() => boundTo("/home/ana/shop", { agent_cwd: "/tmp" })).toThrow('"agent_cwd"');
  expect(() => boundTo(undefined, { agent_cwd: "/tmp" })).toThrow('"agent_cwd"');
});

test("an approval for another folder is refused", () => {
  expect(() => inputOf({ agent_cwd: "/tmp" }, "/home/ana/shop")).toThrow("another folder");
  expect(() => inputOf({}, "/home/ana/shop")).toThrow("another folder");
  expect(() => inputOf({ agent_cwd: "/tmp" }, undefined)).toThrow("another folder");
});

test("a member called __proto__ stays an ordinary member", () => {
  const parsed = parseJson('{"__proto__":{"x":1}}');
  if (!parsed.ok) throw new Error(parsed.message);
  const { args } = boundTo("/tmp", parsed.value as object as Parameters<typeof boundTo>[1]);
  expect(Object.keys(args)).toEqual(["__proto__", "agent_cwd"]);
  expect(Object.keys(inputOf(args, "/tmp"))).toEqual(["__proto__"]);
});
