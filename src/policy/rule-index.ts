import type { PolicyCall } from "../engine/index.ts";
import { globOf } from "../protocol/index.ts";
import type { CallFacts } from "./call-facts.ts";
import { GuardIndex } from "./conditions/guard-index.ts";
import type { PolicyRule } from "./policy-rule.ts";
import { ANNOTATIONS } from "./read-rule.ts";
import { type ReadyRule, toReadyRule } from "./rule-verdict.ts";

type NameMatch = (name: string) => boolean;

interface IndexedRule {
  readonly ready: ReadyRule;
  /** Its place in the file. */
  readonly place: number;
  readonly app: NameMatch;
  readonly agent: NameMatch;
  readonly tool: NameMatch;
  readonly server: NameMatch;
  readonly user: NameMatch;
}

const MOST_KEPT = 1_000;
/** So few rules are judged one by one. */
const FEW = 8;

/** The rules that fit some names. */
interface Place {
  readonly rules: readonly IndexedRule[];
  /** All of them, if nothing but names decides whether they are about a call, and none or too few could be left out. */
  readonly plain: readonly ReadyRule[] | undefined;
}

/** The names by which rules are found. */
interface Names {
  readonly tool: string;
  readonly app: string;
  readonly agent: string;
  readonly server: string;
}

/**
 * Finds the rules that may apply to a call. Which rules fit a tool of an app is found once, and remembered; only what
 * can differ from call to call is compared each time. Of many rules, those are left out whose condition compares a
 * fact with something else than its value.
 */
export class RuleIndex {
  readonly #rules: readonly IndexedRule[];
  readonly #guards: GuardIndex;
  readonly #kept = new Map<string, Place>();
  /** A call is judged when it is asked about, and again when it starts. */
  #last: (Names & { readonly found: Place }) | undefined;

  constructor(rules: readonly PolicyRule[]) {
    this.#rules = rules.map(toIndexed);
    this.#guards = new GuardIndex(rules.map(({ when }) => when?.guard));
  }

  /** The rules that are about this call and may apply, in the file's order. */
  about(call: PolicyCall, facts: CallFacts): readonly ReadyRule[] {
    const { rules, plain } = this.#places(call);
    if (plain !== undefined) return plain;
    const found: ReadyRule[] = [];
    this.#guards.begin(facts);
    for (const { ready, user, place } of rules) {
      if (!this.#guards.canHold(place)) continue;
      if (isAboutUser(ready.rule, user, call) && isAnnotated(ready.rule, call)) found.push(ready);
    }
    return found;
  }

  #places(call: PolicyCall): Place {
    const { tool, app, agent } = call;
    const server = serverOf(call);
    const last = this.#last;
    if (last?.tool === tool && last.app === app && last.agent === agent && last.server === server)
      return last.found;
    const found = this.#find({ tool, app, agent, server });
    this.#last = { tool, app, agent, server, found };
    return found;
  }

  #find({ tool, app, agent, server }: Names): Place {
    const key = JSON.stringify([tool, app, agent, server]);
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const rules = this.#rules.filter(
      (one) => one.tool(tool) && one.app(app) && one.agent(agent) && one.server(server),
    );
    const isGuarded = rules.length > FEW && rules.some(({ place }) => this.#guards.has(place));
    const found = {
      rules,
      plain: !isGuarded && rules.every(isPlain) ? rules.map(({ ready }) => ready) : undefined,
    };
    // A stranger can make up names, so what is kept is limited.
    if (this.#kept.size >= MOST_KEPT) this.#kept.clear();
    this.#kept.set(key, found);
    return found;
  }
}

function isPlain({ ready: { rule } }: IndexedRule): boolean {
  return rule.match.user === undefined && rule.match.annotations === undefined;
}

// No server has an empty name.
function serverOf({ source = "", entryPoint }: PolicyCall): string {
  return entryPoint === "remote" ? "" : source;
}

function toIndexed(rule: PolicyRule, place: number): IndexedRule {
  const { match } = rule;
  return {
    ready: toReadyRule(rule),
    place,
    tool: anyOf(match.tool),
    app: anyOf(match.app),
    agent: anyOf(match.agent),
    user: anyOf(match.user),
    server: match.mcpServer === undefined ? () => true : ofServer(anyOf(match.mcpServer)),
  };
}

function ofServer(match: NameMatch): NameMatch {
  return (name) => name !== "" && match(name);
}

function anyOf(patterns: readonly string[] | undefined): NameMatch {
  if (patterns === undefined) return () => true;
  const globs = patterns.map(globOf);
  return (name) => globs.some((matches) => matches(name));
}

// Several people may count as the one who asks. A rule that restricts is about any of them, one that allows about all.
function isAboutUser({ match, outcome }: PolicyRule, user: NameMatch, call: PolicyCall): boolean {
  if (match.user === undefined) return true;
  const people = [call.user, ...call.requesters];
  return outcome === "allow" ? people.every(user) : people.some(user);
}

// A tool of a server that is silent, or says nonsense, is what MCP says it then is. Other tools have no annotations.
function isAnnotated({ match }: PolicyRule, call: PolicyCall): boolean {
  const { annotations: wanted } = match;
  if (wanted === undefined) return true;
  if (call.annotations === undefined && serverOf(call) === "") return false;
  return Object.entries(wanted).every(([name, value]) => {
    const said: unknown = Object.hasOwn(call.annotations ?? {}, name) ? call.annotations?.[name] : undefined;
    return (typeof said === "boolean" ? said : ANNOTATIONS[name as keyof typeof ANNOTATIONS]) === value;
  });
}
