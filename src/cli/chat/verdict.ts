import { type JsonValue, parseJson } from "../../protocol/index.ts";

/** What a person answered to a question. */
export type Verdict =
  | { readonly kind: "approve"; readonly payload?: JsonValue }
  | { readonly kind: "deny"; readonly reason?: string }
  | { readonly kind: "later" };

const WORDS: { readonly [word: string]: Verdict["kind"] } = {
  a: "approve",
  y: "approve",
  yes: "approve",
  approve: "approve",
  d: "deny",
  n: "deny",
  no: "deny",
  deny: "deny",
  l: "later",
  later: "later",
};

/**
 * Reads `approve`, `approve {"days":3}`, `deny`, `deny too much`, `later`, and the shorter words for them. Undefined
 * for everything else: only a clear yes is a yes.
 */
export function readVerdict(line: string): Verdict | undefined {
  const said = line.trim();
  const [word = ""] = said.split(/\s/, 1);
  const rest = said.slice(word.length).trim();
  const key = word.toLowerCase();
  const kind = Object.hasOwn(WORDS, key) ? WORDS[key] : undefined;
  switch (kind) {
    case "approve":
      return approval(rest);
    case "deny":
      return { kind, ...(rest === "" ? {} : { reason: rest }) };
    case "later":
      return rest === "" ? { kind } : undefined;
    default:
      return undefined;
  }
}

function approval(rest: string): Verdict | undefined {
  if (rest === "") return { kind: "approve" };
  const payload = parseJson(rest);
  return payload.ok ? { kind: "approve", payload: payload.value } : undefined;
}
