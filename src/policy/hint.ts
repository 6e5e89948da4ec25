import type { PolicyCall } from "../engine/index.ts";
import { valueAt } from "./call-facts.ts";

const PLACE = /\{\{\s*([^{}]*?)\s*\}\}/g;
const PATH = /^(?:args(?:\.[\p{L}_][\p{L}\p{N}_-]*)+|user|agent|app|tool)$/u;
const LONGEST_VALUE = 200;

/** The first place in a hint that cannot be filled in, if any. */
export function flawOfHint(hint: string): { readonly offset: number; readonly message: string } | undefined {
  for (const { 1: path = "", index } of hint.matchAll(PLACE)) {
    if (PATH.test(path)) continue;
    return {
      offset: index,
      message: `{{${path}}} is not known; use {{args.NAME}}, {{user}}, {{agent}}, {{app}} or {{tool}}`,
    };
  }
  const left = hint.replaceAll(PLACE, (place) => " ".repeat(place.length)).search(/\{\{|\}\}/);
  return left < 0 ? undefined : { offset: left, message: "{{ and }} do not match" };
}

/** The hint for a call. What is filled in is not read again, and secrets are not shown. */
export function hintFor(hint: string, call: PolicyCall): string {
  return hint.replaceAll(PLACE, (_, path: string) => {
    const [variable = "", ...members] = path.split(".");
    if (variable === "args") return shown(valueAt(call.shown, members));
    return shown(call[variable as "user" | "agent" | "app" | "tool"]);
  });
}

function shown(value: unknown): string {
  if (value === undefined) return "(not given)";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE).toWellFormed()}…`;
}
