import type { JsonObject } from "../../protocol/index.ts";
import { definitionDigest, sameJson } from "../common/index.ts";
import type { Amendment, LiveTool, ShownAgain, StoredCall } from "../host.ts";
import type { Approvers, Requirement } from "../people/index.ts";
import { askingTerms, cardFor, expiryOf } from "./card.ts";
import { denialOf } from "./judge.ts";
import { type Judged, type JudgedTool, judgeAgain } from "./judge-again.ts";
import { type Ruling, requirementsFor } from "./verdict.ts";

/** A tool as the engine runs it: judged by the same rules wherever its calls come from. */
export function toLiveTool(
  judged: JudgedTool,
  { onDenied, run }: Pick<LiveTool, "run"> & { readonly onDenied?: "invoke" | undefined },
): LiveTool {
  const { rules, tool } = judged;
  const { approvers, insteadOfRequester = "requester", expiresInMs, readPayload } = tool.confirmation;
  return {
    definitionDigest: definitionDigest(tool.definition),
    asking: {
      approvers: approvers === "requester" ? insteadOfRequester : approvers,
      ...(expiresInMs === undefined ? {} : { expiresInMs }),
      ...(onDenied === undefined ? {} : { onDenied }),
    },
    ...(rules.policies.length === 0 ? {} : { denies: (about) => denialOf(rules, tool, about) }),
    showAgain: (about) => showAgain(judged, about),
    amend: (about, args) => amend(judged, about, args),
    ...(readPayload === undefined ? {} : { readPayload }),
    run,
  };
}

// People are asked again only if the changed tool accepts the arguments unchanged, and no rule forbids it.
async function showAgain(judged: JudgedTool, about: StoredCall): Promise<ShownAgain | undefined> {
  const { rules, tool } = judged;
  const { call } = about;
  const again = await judgeAgain(judged, about, call.args);
  if (!again.ok || again.ruling.outcome === "deny") return undefined;
  const { ruling, value, card } = again;
  const changes = await rules.definitions.differenceSince(call.definitionDigest, tool.definition);
  await rules.definitions.keep(tool.definition);
  const why = [toldChange(changes), ...ruling.why];
  const { approvers, insteadOfRequester, expiresInMs } = tool.confirmation;
  const requirements = requirementsFor(approvers, ruling, insteadOfRequester);
  return {
    shown: cardFor(tool, value, { ...card, why }, ruling),
    requirements: requiredAnew(judged, about, ruling),
    ...expiryOf(expiresInMs, ruling),
    ...(ruling.policy === undefined ? {} : { policy: ruling.policy }),
    ...askingTerms(approvers, ruling, requirements),
  };
}

function toldChange(changes: readonly string[] = []): string {
  const what = changes.length === 0 ? "" : `: ${changes.join("; ")}`;
  return `the tool changed after the question was asked${what}`;
}

const MORE_ASKED =
  "With these arguments a beforeTool hook asks for a payload, but the confirmation did not ask for one.";

async function amend(judged: JudgedTool, about: StoredCall, args: JsonObject): Promise<Amendment> {
  const again = await judgeAgain(judged, about, args);
  if (!again.ok) return again;
  const { payload, schema } = again.card;
  const { shown } = about.confirmation ?? {};
  const asksMore =
    (payload !== undefined && !sameJson(payload, shown?.payload)) ||
    (schema !== undefined && !sameJson(schema, shown?.schema));
  if (asksMore) return { ok: false, code: "arguments-mismatch", message: MORE_ASKED };
  const { outcome, why } = again.ruling;
  if (outcome === "deny") return { ok: false, code: "policy-denied", message: why.join("; ") };
  return accepted(judged, about, again);
}

/** Amended arguments, with how people are asked about them. */
function accepted(
  { tool }: JudgedTool,
  about: StoredCall,
  { args, value, card, ruling }: Extract<Judged, { ok: true }>,
): Amendment {
  const { why } = ruling;
  const { approvers, insteadOfRequester } = tool.confirmation;
  const { hint, amendable } = cardFor(tool, value, { ...card, why }, ruling);
  const required = requirementsFor(approvers, ruling, insteadOfRequester);
  return {
    ok: true,
    args,
    requirements: requiredAnew({ tool }, about, ruling),
    shown: { hint, why, ...(amendable === undefined ? {} : { amendable }) },
    ...expiryOf(undefined, ruling),
    ...(ruling.policy === undefined ? {} : { policy: ruling.policy }),
    ...askingTerms(approvers, ruling, required),
  };
}

/** Nobody is required anew if nobody names people: those who were required before stay. */
function requiredAnew(
  { tool: { confirmation } }: Pick<JudgedTool, "tool">,
  about: StoredCall,
  ruling: Ruling,
): readonly Requirement[] {
  const { approvers, insteadOfRequester } = confirmation;
  if (!namesPeople(approvers, ruling) && wereNamed(about)) return [];
  return requirementsFor(approvers, ruling, insteadOfRequester);
}

function namesPeople(author: Approvers, { requirements, notRequester = false }: Ruling): boolean {
  return author !== "requester" || requirements.length > 0 || notRequester;
}

function wereNamed({ confirmation }: StoredCall): boolean {
  return confirmation?.requirements.some(({ from }) => from !== "requester") === true;
}
