import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "../../src/protocol/index.ts";
import type { Random } from "../support/random.ts";
import type { Operation } from "./operations.ts";
import type { Values } from "./values.ts";

/** A request before it is sent, so that a failure can be told in one line and sent again. */
export interface Draft {
  readonly method: string;
  /** Path and query. */
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /** It goes to the operation that it was made from. */
  readonly arrives: boolean;
}

const PEOPLE = [
  ...Array.from({ length: 9 }, () => "ana"),
  "meg",
  "meg",
  "root",
  "root",
  "bob",
  "agent",
  "nobody",
  "",
];
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACER"];
const SEGMENTS = [
  "..",
  "%2e%2e%2f",
  "%00",
  "%zz",
  "%F0%9F%99%82",
  "a".repeat(5_000),
  "",
  "__proto__",
  "*",
  "{id}",
];
const HEADERS: readonly (readonly [string, string])[] = [
  ["if-match", '"1"'],
  ["if-match", "*"],
  ["if-match", 'W/"junk", "2"'],
  ["if-match", "9".repeat(400)],
  ["idempotency-key", "k-1"],
  ["idempotency-key", "k".repeat(3_000)],
  ["idempotency-key", "\u00ff"],
  ["last-event-id", "-1"],
  ["last-event-id", "9".repeat(30)],
  ["last-event-id", "1"],
  ["accept", "text/html;q=0.1, nonsense"],
  ["accept-encoding", "br;q=nope"],
  ["content-type", "text/plain"],
  ["content-type", "application/json; charset=utf-16"],
  ["content-type", "multipart/form-data"],
  ["content-type", ";;;"],
  ["origin", "https://elsewhere.example"],
  ["origin", "null"],
  ["range", "bytes=0-1"],
  ["x-http-method-override", "DELETE"],
  ["x-forwarded-for", "127.0.0.1, ::1"],
  ["cookie", "a=b; =; countersign=%00"],
  ["traceparent", "00-zz"],
  ["x-request-id", "<>".repeat(300)],
];

/** Makes requests from the document's operations: half of them as described, the others changed in one or more ways. */
export class Requests {
  readonly #random: Random;
  readonly #values: Values;

  constructor(random: Random, values: Values) {
    this.#random = random;
    this.#values = values;
  }

  next(operation: Operation): Draft {
    const valid = this.#valid(operation);
    if (this.#random.chance(0.5)) return valid;
    let draft = valid;
    do draft = this.#changed(draft);
    while (this.#random.chance(0.35));
    return draft;
  }

  #valid(operation: Operation): Draft {
    let path = operation.path;
    const query = new URLSearchParams();
    const headers: Record<string, string> = {};
    for (const { name, in: place, required, schema } of operation.parameters) {
      if (!required && place !== "path" && this.#random.chance(0.7)) continue;
      const text = textOf(this.#values.of(schema, name));
      if (place === "path") path = path.replace(`{${name}}`, encodeURIComponent(text) || "-");
      else if (place === "query") query.append(name, text);
      else if (/^[\x20-\x7e]*$/.test(text)) headers[name] = text;
    }
    const body = operation.body === undefined ? undefined : JSON.stringify(this.#values.of(operation.body));
    return {
      method: operation.method,
      address: query.size === 0 ? path : `${path}?${query.toString()}`,
      headers: {
        authorization: this.#values.pick(PEOPLE),
        ...headers,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body }),
      arrives: true,
    };
  }

  #changed(draft: Draft): Draft {
    switch (this.#random.below(7)) {
      case 0:
        return { ...draft, method: this.#values.pick(METHODS), arrives: false };
      case 1:
        return { ...draft, address: this.#changedPath(draft.address), arrives: false };
      case 2:
        return { ...draft, address: this.#changedQuery(draft.address) };
      case 3: {
        const [name, value] = this.#values.pick(HEADERS);
        return { ...draft, headers: { ...draft.headers, [name]: value } };
      }
      default:
        return draft.body === undefined && this.#random.chance(0.8)
          ? { ...draft, address: this.#changedQuery(draft.address) }
          : this.#changedBody(draft);
    }
  }

  #changedPath(address: string): string {
    const [path = "", query] = address.split("?");
    const segments = path.split("/");
    const at = 1 + this.#random.below(Math.max(segments.length - 1, 1));
    if (this.#random.chance(0.3)) segments.splice(at, 0, this.#values.pick(SEGMENTS));
    else segments[at] = this.#values.pick(SEGMENTS);
    return query === undefined ? segments.join("/") : `${segments.join("/")}?${query}`;
  }

  #changedQuery(address: string): string {
    const names = [
      "limit",
      "cursor",
      "status",
      "wait",
      "after",
      "q",
      "mine",
      "lastEventId",
      "%00",
      "head",
      "x[]",
    ];
    const values = [
      "-1",
      "1e9",
      "0x10",
      "NaN",
      "open.",
      "closed.W10",
      "open.WzEsMl0",
      "%F0%28%8C%28",
      "%00",
      "%",
      "a".repeat(3_000),
      "all,requested,",
      "[]",
      "%22*%22%20OR%20%22",
      "NEAR(a,b)",
    ];
    const added = Array.from(
      { length: 1 + this.#random.below(3) },
      () => `${this.#values.pick(names)}=${this.#values.pick(values)}`,
    ).join("&");
    return `${address}${address.includes("?") ? "&" : "?"}${added}`;
  }

  #changedBody(draft: Draft): Draft {
    const headers = { "content-type": "application/json", ...draft.headers };
    const text = typeof draft.body === "string" ? draft.body : "{}";
    const forms: readonly (() => string | Uint8Array<ArrayBuffer>)[] = [
      () => text.slice(0, this.#random.below(text.length + 1)),
      () => `${text}${text}`,
      () => `\ufeff${text}`,
      () => text.replace("{", '{"confirmed":true,"confirmed":"x","__proto__":{"a":1},'),
      () => text.replaceAll("true", this.#values.pick(['"true"', "1", "null", "[]", "{}"])),
      () => text.replaceAll(/\d+/g, this.#values.pick(["-1", "1e400", "1.5", '"7"', "9007199254740993"])),
      () => text.replaceAll(/"(\w+)":/g, (all) => (this.#random.chance(0.3) ? '"x":' : all)),
      () => text.replace(/"[^"]*"$|"[^"]*"}/, '"\\ud800"}'),
      () => JSON.stringify(this.#values.anything()),
      () => `${"[".repeat(5_000)}${"]".repeat(5_000)}`,
      () => `{"a":${'{"a":'.repeat(300)}1${"}".repeat(301)}`,
      () => JSON.stringify({ ...parsed(text), extra: "x".repeat(this.#random.below(60_000)) }),
      () => new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
      () => new Uint8Array(Array.from({ length: 40 }, () => this.#random.below(256))),
      () => "",
    ];
    return { ...draft, headers, body: this.#values.pick(forms)() };
  }
}

function textOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function parsed(text: string): JsonObject {
  const read = parseJson(text);
  return read.ok && isJsonObject(read.value) ? read.value : {};
}
