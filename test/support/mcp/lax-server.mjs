// An MCP server that runs whatever could be read as a call: for tests that a gateway lets none of it through. It takes
// members in any case, the first and the last of two, lists, JSON in texts, comments, several messages at once, and
// names that only look alike. It writes `gated` or `look` to its log for every call that it runs.
// Arguments: the log, then `stdio` or `http` (it then prints its port).
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const [, , log, kind] = process.argv;
const GATED = "delete_file";
const CALLS = new Set(["tools/call", "tools/execute", "tools/call/", "tasks/create", "call_tool"]);
const schema = { type: "object", properties: { path: { type: "string" } } };
const TOOLS = ["look", GATED].map((name) => ({ name, description: `Does ${name}.`, inputSchema: schema }));

/** An object as the list of its members, so that none hides another. */
class Members {
  list = [];
}

const unescaped = (match) => JSON.parse(`"${match}"`);

class Reader {
  #at = 0;
  #text;
  constructor(text) {
    this.#text = text;
  }

  /** Every value in the text, one after the other. */
  all() {
    const values = [];
    for (this.#skip(); this.#at < this.#text.length; this.#skip()) values.push(this.#value());
    return values;
  }

  #value() {
    this.#skip();
    const next = this.#text[this.#at];
    if (next === "{") return this.#members();
    if (next === "[") return this.#items();
    if (next === '"' || next === "'") return this.#string(next);
    const [word] = /^[^\s,:{}[\]"']+/.exec(this.#text.slice(this.#at)) ?? [];
    if (word === undefined) throw new Error("unreadable");
    this.#at += word.length;
    const known = { true: true, false: false, null: null };
    if (word in known) return known[word];
    return Number.isNaN(Number(word)) ? word : Number(word);
  }

  #members() {
    const members = new Members();
    for (this.#at++; !this.#ends("}"); this.#skip())
      members.list.push([String(this.#value()), this.#value()]);
    return members;
  }

  #items() {
    const items = [];
    for (this.#at++; !this.#ends("]"); ) items.push(this.#value());
    return items;
  }

  #ends(bracket) {
    this.#skip();
    if (this.#at >= this.#text.length) throw new Error("unfinished");
    if (this.#text[this.#at] !== bracket) return false;
    this.#at++;
    return true;
  }

  #string(quote) {
    let raw = "";
    for (this.#at++; this.#text[this.#at] !== quote; this.#at++) {
      if (this.#at >= this.#text.length) throw new Error("unfinished");
      if (this.#text[this.#at] === "\\") raw += this.#text[this.#at++];
      raw += this.#text[this.#at];
    }
    this.#at++;
    return raw.replace(/\\(?:u[\da-fA-F]{4}|["\\/bfnrt])/g, unescaped);
  }

  // Blanks of any kind, marks, commas, colons and comments are all nothing.
  #skip() {
    const nothing = /(?:[\s,:;\0\u200b-\u200f\u2060\ufeff]|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
    nothing.lastIndex = this.#at;
    nothing.test(this.#text);
    this.#at = nothing.lastIndex;
  }
}

const LOOKALIKES = {
  а: "a",
  е: "e",
  о: "o",
  с: "c",
  і: "i",
  ѕ: "s",
  ӏ: "l",
  "⁄": "/",
  "∕": "/",
  "‐": "-",
  "˗": "-",
};
const fold = (text) =>
  [...text.normalize("NFKC")]
    .map((letter) => LOOKALIKES[letter] ?? letter)
    .join("")
    .toLowerCase()
    .replace(/[\s\p{C}\ufffd\ud800-\udfff]/gu, "")
    .replaceAll("-", "_");

/** What a member may be, in any spelling; also one that was put on the prototype. */
function membersOf(object, name) {
  return object.list.flatMap(([key, value]) => {
    if (key === "__proto__" && value instanceof Members) return membersOf(value, name);
    return fold(key) === name ? [value] : [];
  });
}

function readText(text) {
  try {
    return /[{[]/.test(text) ? new Reader(text).all() : [];
  } catch {
    return [];
  }
}

function objectsOf(value) {
  if (value instanceof Members) return [value];
  if (Array.isArray(value)) return value.flatMap(objectsOf);
  return typeof value === "string" ? readText(value).flatMap(objectsOf) : [];
}

function textsOf(value) {
  if (typeof value === "string") return [value, ...readText(value).flatMap(textsOf)];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  return value instanceof Members ? value.list.flatMap(([, inner]) => textsOf(inner)) : [];
}

function namesCalled(message) {
  const isCall = membersOf(message, "method")
    .flatMap(textsOf)
    .some((method) => CALLS.has(fold(method)));
  if (!isCall) return [];
  const params = [...membersOf(message, "params").flatMap(objectsOf), message];
  return params.flatMap((one) => membersOf(one, "name").flatMap(textsOf)).map(fold);
}

const ANSWERS = {
  initialize: () => ({
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "lax", version: "1" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: TOOLS }),
};

/** Runs what it can, and gives the answers to it. */
function handle(text) {
  const messages = new Reader(text).all().flatMap(objectsOf);
  if (messages.length === 0) throw new Error("no message");
  return messages.flatMap((message) => {
    const names = namesCalled(message);
    if (names.includes(GATED)) appendFileSync(log, "gated\n");
    else if (names.includes("look")) appendFileSync(log, "look\n");
    const [id] = membersOf(message, "id");
    const [method] = membersOf(message, "method");
    if (id === undefined || id instanceof Members || Array.isArray(id)) return [];
    const result = names.length > 0 ? { content: [{ type: "text", text: "did it" }] } : ANSWERS[method]?.();
    const answer =
      result === undefined ? { error: { code: -32601, message: "Method not found" } } : { result };
    return [{ jsonrpc: "2.0", id, ...answer }];
  });
}

function readable(text) {
  try {
    return handle(text);
  } catch {
    return [];
  }
}

if (kind === "http") {
  const server = createServer((request, response) => {
    const pieces = [];
    request.on("data", (piece) => pieces.push(piece));
    request.on("end", () => {
      if (request.method !== "POST") return response.writeHead(405).end();
      const [answer] = readable(Buffer.concat(pieces).toString("utf8"));
      if (answer === undefined) return response.writeHead(202).end();
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
    });
  });
  server.listen(0, "127.0.0.1", () => process.stdout.write(`${server.address().port}\n`));
} else {
  const MOST_LINES = 8;
  let lines = [];
  createInterface({ input: process.stdin }).on("line", (line) => {
    lines = [...lines, line].slice(-MOST_LINES);
    // A message may go over several lines: the shortest end of them that can be read is one.
    for (let from = lines.length - 1; from >= 0; from--) {
      try {
        for (const answer of handle(lines.slice(from).join("\n")))
          process.stdout.write(`${JSON.stringify(answer)}\n`);
        lines = [];
        return;
      } catch {}
    }
  });
}
