import { tightest } from "../grants/index.ts";
import type { GrantLimits, PolicyNote } from "../ledger/index.ts";
import { type Approvers, addUp, oneApproval, type Requirement } from "../people/index.ts";
import type { AskingSource } from "./escalations.ts";
import type { AuthorGate } from "./gated-tool.ts";
import type { AskingTerms } from "./policy.ts";

/** What one source says about a call. */
export interface Verdict extends AskingTerms {
  readonly source: AuthorGate | "policy" | "hook";
  readonly outcome: "allow" | "confirm" | "deny";
  readonly why: string;
  /** The id of the policy's rule, if it has one. */
  readonly rule?: string;
  /** Who must approve, if the source says so. */
  readonly requirements?: readonly Requirement[];
}

/** What all sources together say, with all their reasons. */
export interface Ruling {
  readonly outcome: "allow" | "confirm" | "deny";
  readonly why: readonly string[];
  /** What rules and hooks require, besides what the tool's author does. */
  readonly requirements: readonly Requirement[];
  /** Nobody who asked may approve. */
  readonly notRequester?: boolean;
  /** How many denials deny, if a rule says so: the smallest number of all rules that ask. */
  readonly denials?: number;
  /** When people are reminded, by all rules. */
  readonly remindAfterMs?: readonly number[];
  /** Everyone who asks, with what each requires and who may fill in for that. */
  readonly sources?: readonly AskingSource[];
  /** The question of the first rule that has one. */
  readonly hint?: string;
  /** The shortest time that a rule wants the question to stay open. */
  readonly expiresInMs?: number;
  /** The arguments that every rule lets an approver change; undefined if no rule says. */
  readonly amendable?: readonly string[];
  /** The most that an approval may grant for further calls; undefined if nothing. */
  readonly grants?: GrantLimits;
  /** What asks, if an approval may grant something: a grant is only for calls about which nothing else asks. */
  readonly askedBy?: readonly string[];
  /** A link in a mail may decide without a login. */
  readonly byMail?: true;
  /** The channels that get the question; undefined if all do. */
  readonly notify?: readonly string[];
  /** Which rules of which policies applied, for the record. */
  readonly policy?: readonly PolicyNote[];
  /** Only gates that the tool's own author set: what `withoutProvider: "run"` may answer. */
  readonly authorOnly: boolean;
}

const AUTHORS_OWN: ReadonlySet<Verdict["source"]> = new Set(["tool", "toolset"]);

/** The strictest wins: deny, then confirm, then allow. An `allow` cancels nothing that anybody else asks for. */
export function rule(verdicts: readonly Verdict[]): Ruling {
  const denials = verdicts.filter(({ outcome }) => outcome === "deny");
  if (denials.length > 0)
    return { outcome: "deny", why: denials.map(({ why }) => why), requirements: [], authorOnly: false };
  const asking = verdicts.filter(({ outcome }) => outcome === "confirm");
  if (asking.length === 0) return { outcome: "allow", why: [], requirements: [], authorOnly: false };
  return {
    outcome: "confirm",
    why: asking.map(({ why }) => why),
    requirements: addUp(asking.flatMap(({ requirements = [] }) => requirements)),
    ...termsOf(asking),
    ...grantsOf(asking),
    ...(asking.every(allowsMail) ? { byMail: true } : {}),
    ...notifiedBy(asking),
    authorOnly: asking.every(({ source }) => AUTHORS_OWN.has(source)),
  };
}

/**
 * Only rules allow grants, and every rule that asks must. What a hook or a remote agent asks for is not known in
 * advance, so nobody can grant it.
 */
function grantsOf(asking: readonly Verdict[]): Pick<Ruling, "grants" | "askedBy"> {
  if (asking.some(({ source }) => source === "hook" || source === "remote")) return {};
  const ruled = asking.filter(({ source }) => source === "policy");
  const grants = tightest(ruled.map((verdict) => verdict.grants));
  return grants === undefined ? {} : { grants, askedBy: [...new Set(asking.map(nameOf))] };
}

/** Only a rule can allow it: what an author, a manifest, a hook or a remote agent asks for needs a login. */
function allowsMail({ source, byMail }: Verdict): boolean {
  return source === "policy" && byMail === true;
}

/** Only rules name channels. Whatever else asks, and a rule that names none, wants all of them. */
function notifiedBy(asking: readonly Verdict[]): Pick<Ruling, "notify"> {
  const named = asking.flatMap(({ source, notify }) =>
    source === "policy" && notify !== undefined ? [notify] : [],
  );
  return named.length < asking.length ? {} : { notify: [...new Set(named.flat())].toSorted() };
}

function nameOf({ source, rule: id, why }: Verdict): string {
  return source === "policy" ? `policy: ${id ?? why}` : source;
}

function termsOf(
  asking: readonly Verdict[],
): Omit<Ruling, "outcome" | "why" | "requirements" | "policy" | "authorOnly"> {
  const ruled = asking.filter(({ source }) => source === "policy");
  const denials = Math.min(...ruled.map((verdict) => verdict.denials ?? 1));
  const hint = asking.find((verdict) => verdict.hint !== undefined)?.hint;
  const times = asking.flatMap(({ expiresInMs }) => expiresInMs ?? []);
  const lists = asking.flatMap(({ amendable }) => (amendable === undefined ? [] : [amendable]));
  const [first, ...others] = lists;
  const remindAfterMs = asking.flatMap((verdict) => verdict.remindAfterMs ?? []);
  return {
    ...(remindAfterMs.length === 0 ? {} : { remindAfterMs }),
    ...(asking.every(({ escalate = [] }) => escalate.length === 0) ? {} : { sources: asking.map(toSource) }),
    ...(asking.some(({ notRequester }) => notRequester === true) ? { notRequester: true } : {}),
    ...(ruled.length > 0 && denials > 1 ? { denials } : {}),
    ...(hint === undefined ? {} : { hint }),
    ...(times.length === 0 ? {} : { expiresInMs: Math.min(...times) }),
    ...(first === undefined
      ? {}
      : { amendable: first.filter((name) => others.every((names) => names.includes(name))) }),
  };
}

function toSource({ requirements = [], escalate = [] }: Verdict): AskingSource {
  return { requirements, escalate };
}

/**
 * Who must approve: whom the tool's author and every rule name, all of them. A rule may be stricter than the author,
 * never less strict. Only the author's default, "requester", gives way to whoever a rule requires. `requester`: who is
 * asked where the requester would be.
 */
export function requirementsFor(
  author: Approvers,
  { requirements, notRequester = false }: Pick<Ruling, "requirements" | "notRequester">,
  requester: Approvers = "requester",
): readonly Requirement[] {
  const own = author === "requester" && requirements.length > 0 ? [] : oneApproval(author);
  const asked = [...own, ...requirements].map((one) =>
    one.from === "requester" ? { ...one, from: requester } : one,
  );
  return addUp(asked, { notRequester });
}
