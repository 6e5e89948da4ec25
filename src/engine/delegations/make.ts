import { flawOfGlob, type JsonValue } from "../../protocol/index.ts";
import { flawOfName, sameJson } from "../common/index.ts";
import type { Decider, OnceKey } from "../decisions/index.ts";
import { transact } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import type { DelegationScope, Directory, VoteDelegation } from "../people/index.ts";
import { actor, diaryDraft, diaryOf } from "./diary.ts";
import { delegationMac, toItem } from "./item.ts";
import { allDelegations } from "./read.ts";
import { type DelegationRefusal, refuse, rightTo } from "./rights.ts";

/** What somebody wants to delegate. */
export interface NewDelegation {
  /** Who is away. Default: whoever makes it. */
  readonly from?: string;
  /** Who votes for them. */
  readonly to: string;
  /** In milliseconds since 1970. */
  readonly until: number;
  readonly scope?: DelegationScope;
}

export type MadeDelegation = { readonly ok: true; readonly delegation: VoteDelegation } | DelegationRefusal;

/** What was made for a request with a key, by that key. */
const MADE = "delegation-made";
const LONGEST_MS = 366 * 24 * 60 * 60_000;
const MOST_PATTERNS = 50;
/** About: people who make theirs at the same time may exceed it. */
const MOST_DELEGATIONS = 500;
const MOST_OF_ONE = 20;

/**
 * Lets somebody vote for another person. Only that person may, with the right to decide, or an operator (the scope
 * `admin`). Agents, code of the host, and services that act for people never may.
 */
export async function makeDelegation(
  parts: EngineParts,
  wanted: NewDelegation,
  { by, via, once }: Decider & { readonly once?: OnceKey | undefined },
): Promise<MadeDelegation> {
  const { from = by.id, to, until, scope } = wanted;
  const refused = rightTo(by, from) ?? flawOf({ ...wanted, from }, parts.directory);
  if (refused !== undefined) return refused;
  const id = parts.newId(parts.ledger.now);
  return transact<MadeDelegation>(parts, { session: diaryOf(from) }, async (snapshot) => {
    // Also if it was revoked since: a request that comes again makes no other one.
    const made = once && (await parts.ledger.items.get(MADE, once.id));
    if (made !== undefined)
      return { value: { ok: true, delegation: made.value as unknown as VoteDelegation } };
    const now = snapshot?.now ?? parts.ledger.now;
    const late = flawOfEnd(until, now);
    if (late !== undefined) return { value: refuse("malformed-request", late, "until") };
    // Read after the snapshot: another one of this person's, made meanwhile, has the commit refused.
    const all = await allDelegations(parts.ledger);
    const same = all.find((one) => isSame(one, { ...wanted, from }) && isGenuine(parts, one));
    if (same !== undefined) {
      if (once !== undefined)
        await parts.ledger.items.put({ ...once, kind: MADE, value: toItem(same).value }, 0);
      return { value: { ok: true, delegation: same } };
    }
    const tooMany = flawOfNumber(from, all);
    if (tooMany !== undefined) return { value: refuse("malformed-request", tooMany) };
    const limits = scope === undefined ? {} : { scope };
    const unsigned = { id, from, to, since: now, until, ...limits };
    const signed = parts.secret === undefined ? {} : { mac: delegationMac(parts.secret, unsigned) };
    const delegation: VoteDelegation = { ...unsigned, version: 1, ...signed };
    const draft = diaryDraft(parts, snapshot, from);
    const item = toItem(delegation);
    draft.write({ kind: "item", item, read: 0 });
    if (once !== undefined)
      draft.write({ kind: "item", item: { ...once, kind: MADE, value: item.value }, read: 0 });
    draft.journal("delegation-made", { delegation: id, from, to, until, ...limits, ...actor({ by, via }) });
    return { draft, value: { ok: true, delegation } };
  });
}

/** The same again makes no other one. */
function isSame(one: VoteDelegation, wanted: NewDelegation): boolean {
  if (one.from !== wanted.from || one.to !== wanted.to || one.until !== wanted.until) return false;
  return sameJson(toJson(one.scope), toJson(wanted.scope));
}

function toJson({ app = [], tool = [] }: DelegationScope = {}): JsonValue {
  return { app: [...app], tool: [...tool] };
}

function isGenuine({ secret }: EngineParts, one: VoteDelegation): boolean {
  return secret === undefined || one.mac === delegationMac(secret, one);
}

function flawOf(
  { from, to, scope = {} }: Pick<NewDelegation, "to" | "scope"> & { readonly from: string },
  directory: Directory,
): DelegationRefusal | undefined {
  for (const [field, name] of [
    ["from", from],
    ["to", to],
  ] as const) {
    const isText = typeof (name as unknown) === "string" && name !== "";
    const flaw = isText ? flawOfName(name) : "is no name";
    if (flaw !== undefined) return refuse("malformed-request", `\`${field}\` ${flaw}.`, field);
  }
  if (directory.person(from) === directory.person(to))
    return refuse("malformed-request", "`to` must be somebody else.", "to");
  for (const [field, patterns] of [
    ["app", scope.app],
    ["tool", scope.tool],
  ] as const) {
    if (patterns === undefined) continue;
    if (patterns.length === 0 || patterns.length > MOST_PATTERNS)
      return refuse("malformed-request", `\`scope.${field}\` needs 1 to ${MOST_PATTERNS} patterns.`, "scope");
    const flaw = patterns.map(flawOfGlob).find((one) => one !== undefined);
    if (flaw !== undefined)
      return refuse("malformed-request", `A pattern in \`scope.${field}\` ${flaw}.`, "scope");
  }
  return undefined;
}

function flawOfEnd(until: number, now: number): string | undefined {
  if (!Number.isSafeInteger(until)) return "`until` must be a time.";
  if (until <= now) return "`until` has passed.";
  return until - now > LONGEST_MS ? "`until` is more than a year away." : undefined;
}

function flawOfNumber(from: string, all: readonly VoteDelegation[]): string | undefined {
  const isRoom = all.length < MOST_DELEGATIONS && all.filter((one) => one.from === from).length < MOST_OF_ONE;
  return isRoom ? undefined : `There are too many delegations (of ${from}, or of all). Revoke some first.`;
}
