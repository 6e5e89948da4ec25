import type { Delegation, NewDelegation } from "../../api/types.ts";

/** What somebody typed to let another person vote for them. */
export interface Typed {
  readonly to: string;
  /** As the browser's field for a local time gives it. */
  readonly until: string;
  /** Patterns, separated by commas. */
  readonly tools: string;
  readonly apps: string;
}

export type Read =
  | { readonly ok: true; readonly wanted: NewDelegation }
  | { readonly ok: false; readonly fault: string };

/** The delegation that was typed; or what is missing. */
export function readDelegation(typed: Typed, now: number): Read {
  const to = typed.to.trim();
  if (to === "") return { ok: false, fault: "Say who votes for you." };
  const until = new Date(typed.until);
  if (Number.isNaN(until.getTime())) return { ok: false, fault: "Say until when." };
  if (until.getTime() <= now) return { ok: false, fault: "The end has passed." };
  const [tool, app] = [patterns(typed.tools), patterns(typed.apps)];
  const scope = {
    ...(tool.length === 0 ? {} : { tool }),
    ...(app.length === 0 ? {} : { app }),
  };
  return {
    ok: true,
    wanted: {
      to,
      until: until.toISOString(),
      ...(Object.keys(scope).length === 0 ? {} : { scope }),
    },
  };
}

function patterns(text: string): readonly string[] {
  return text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

/** Which questions it is about. */
export function scopeSentence({ scope = {} }: Pick<Delegation, "scope">): string {
  const { tool = [], app = [] } = scope;
  if (tool.length === 0 && app.length === 0) return "all questions";
  const tools = tool.length === 0 ? [] : [`the tools ${tool.join(", ")}`];
  const apps = app.length === 0 ? [] : [`the apps ${app.join(", ")}`];
  return `questions about ${[...tools, ...apps].join(" in ")}`;
}
