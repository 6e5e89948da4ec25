import type { Approvers } from "../people/index.ts";
import type { AuthorGate } from "./gated-tool.ts";

/** What one source says about a call. */
export interface Verdict {
  readonly source: AuthorGate | "policy" | "hook";
  readonly outcome: "allow" | "confirm" | "deny";
  readonly why: string;
  /** Who may decide, if the source says so. */
  readonly approvers?: Approvers;
}

/** What all sources together say, with all their reasons. */
export interface Ruling {
  readonly outcome: "allow" | "confirm" | "deny";
  readonly why: readonly string[];
  readonly approvers?: Approvers;
  /** Only gates that the tool's own author set: what `withoutProvider: "run"` may answer. */
  readonly authorOnly: boolean;
}

const AUTHORS_OWN: ReadonlySet<Verdict["source"]> = new Set(["tool", "toolset"]);

/**
 * The strictest wins: deny, then confirm, then allow. An `allow` cancels only what rules ask for, never a gate of a
 * tool's author, a toolset, a manifest or a hook.
 */
export function rule(verdicts: readonly Verdict[]): Ruling {
  const denials = verdicts.filter(({ outcome }) => outcome === "deny");
  if (denials.length > 0) return { outcome: "deny", why: denials.map(({ why }) => why), authorOnly: false };
  const lifted = verdicts.some(({ source, outcome }) => source === "policy" && outcome === "allow");
  const asking = verdicts.filter(
    ({ source, outcome }) => outcome === "confirm" && !(lifted && source === "policy"),
  );
  if (asking.length === 0) return { outcome: "allow", why: [], authorOnly: false };
  const approvers = asking.find((verdict) => verdict.approvers !== undefined)?.approvers;
  return {
    outcome: "confirm",
    why: asking.map(({ why }) => why),
    ...(approvers === undefined ? {} : { approvers }),
    authorOnly: asking.every(({ source }) => AUTHORS_OWN.has(source)),
  };
}

/**
 * Who may decide, if both a rule and the tool say something: a rule may be stricter than the tool's author, never less
 * strict. If both name people, the rule wins, because it comes from the operator of the app.
 */
export function strictest(author: Approvers, ruled: Approvers | undefined): Approvers {
  if (ruled === undefined || ruled === "requester") return author;
  if (author === "requester" || author.notRequester !== true) return ruled;
  return { ...ruled, notRequester: true };
}
