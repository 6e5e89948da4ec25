import type { LiveTool } from "../host.ts";
import type { CallPlan } from "../sessions/index.ts";
import { type CardNotes, forbiddenAnswer, questionFor } from "./card.ts";
import type { GatedCall, GateRules } from "./judge.ts";
import type { Ruling } from "./verdict.ts";

/** What happens to a call under its ruling: it gets the denial, it runs, or a person is asked. */
export function planUnder(
  ruling: Ruling,
  { rules, call }: { readonly rules: GateRules; readonly call: GatedCall },
  { live, notes = {} }: { readonly live: LiveTool; readonly notes?: CardNotes },
): CallPlan | Promise<CallPlan> {
  const noted = ruling.policy === undefined ? {} : { policy: ruling.policy };
  switch (ruling.outcome) {
    case "deny":
      return { kind: "answer", status: "denied", result: forbiddenAnswer(ruling.why), ...noted };
    case "allow":
      return keptFirst(rules, call, { kind: "run", tool: live, ...noted });
    case "confirm":
      return rules.definitions
        .keep(call.tool.definition)
        .then(() => ({ kind: "ask", question: questionFor(call, ruling, notes), tool: live }));
  }
}

/** Of a server's tool rules match more than the call tells: whoever judges it again later has to find that. */
function keptFirst(
  { definitions }: GateRules,
  { tool: { definition } }: GatedCall,
  plan: CallPlan,
): CallPlan | Promise<CallPlan> {
  if (definition.server === undefined || definitions.has(definition)) return plan;
  return definitions.keep(definition).then(() => plan);
}
