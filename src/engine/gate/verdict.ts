import type { Approvers } from "../people/index.ts";
import type { AuthorGate } from "./gated-tool.ts";

/** What one source says of a call. */
export interface Verdict {
  readonly source: AuthorGate | "policy" | "hook";
  readonly outcome: "allow" | "confirm" | "deny";
  readonly why: string;
  /** Who may decide, where the source says so. */
  readonly approvers?: Approvers;
}

/** What all sources together say, and everything that they gave as a reason. */
export interface Ruling {
  readonly outcome: "allow" | "confirm" | "deny";
  readonly why: readonly string[];
  readonly approvers?: Approvers;
  /** Only gates that the tool's own author set: what `withoutProvider: "run"` may answer. */
  readonly authorOnly: boolean;
}

const AUTHORS_OWN: ReadonlySet<Verdict["source"]> = new Set(["tool", "toolset"]);

/**
 * The strictest wins: deny, then confirm, then allow. An `allow` lifts only what rules ask for, never a gate
 * that a tool's author, a toolset, a manifest or a hook set.
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
 * Who may decide, where a rule says something beside the tool: a rule may ask for more than the tool's author did, and
 * never for less. Of two that name people, the rule's are those of whoever runs the app.
 */
export function strictest(author: Approvers, ruled: Approvers | undefined): Approvers {
  if (ruled === undefined || ruled === "requester") return author;
  if (author === "requester" || author.notRequester !== true) return ruled;
  return { ...ruled, notRequester: true };
}
