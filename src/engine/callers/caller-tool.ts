import { CountersignError } from "../../protocol/index.ts";
import { readShape, type ToolDefinition } from "../common/index.ts";
import {
  askingTerms,
  type GatedTool,
  judgeAgain,
  rulesAt,
  toConfirmationRules,
  toLiveTool,
} from "../gate/index.ts";
import type { LiveTool } from "../host.ts";
import type { CallRecord } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { addUp } from "../people/index.ts";
import { insteadOf, type Proposal } from "./proposal.ts";

/** The tool of a proposed call, as the gate sees it. */
export function proposedTool(proposal: Proposal): GatedTool {
  const { tool: name, description, schema, requireConfirmation = true } = proposal;
  const { approvers, hint, expiresInMs, amendable, secrets = [], idempotent = false } = proposal;
  const insteadOfRequester = insteadOf(proposal);
  const definition: ToolDefinition = {
    name,
    ...(description === undefined ? {} : { description }),
    ...(schema === undefined ? {} : { parameters: schema }),
  };
  return {
    ...describedTool(definition),
    ...(proposal.parsed === undefined ? {} : { parse: (args) => readShape(undefined).parse(args) }),
    confirmation: {
      ...toConfirmationRules(
        {
          ...(approvers === undefined ? {} : { approvers }),
          ...(hint === undefined ? {} : { confirmationHint: hint }),
          ...(expiresInMs === undefined ? {} : { expiresInMs }),
          ...(amendable === undefined ? {} : { amendable }),
        },
        undefined,
      ),
      ...(insteadOfRequester === undefined ? {} : { insteadOfRequester }),
    },
    repeatable: idempotent,
    secrets,
    gates: async () => (requireConfirmation ? ["tool"] : []),
  };
}

/** The tool of a stored call, as far as it is known here: enough to judge the call, not to run it. */
export async function storedCallerTool(parts: EngineParts, call: CallRecord): Promise<LiveTool> {
  const definition = (await parts.definitions.of(call.definitionDigest)) ?? { name: call.tool };
  const described = describedTool(definition);
  const caller: string = call.requesters?.[0] ?? "";
  const tool: GatedTool = {
    ...described,
    // The caller chose the schema, and may be the one who changes the arguments.
    parse: (args) => parts.slowChecks.run(caller, () => described.parse(args)),
    confirmation: toConfirmationRules({}, undefined),
    repeatable: call.repeatable,
    secrets: call.secrets,
    gates: async () => ["tool"],
  };
  const rules = rulesAt(parts, "api");
  const live = toLiveTool({ rules, tool }, { run: refuseToRun });
  return {
    ...live,
    definitionDigest: call.definitionDigest,
    amend: async (about, args) => {
      const again = await judgeAgain({ rules, tool }, about, args);
      if (!again.ok) return again;
      const { outcome, why, requirements: ruled, notRequester = false } = again.ruling;
      if (outcome === "deny") return { ok: false, code: "policy-denied", message: why.join("; ") };
      // What the caller itself required is only on the question. What a rule adds to it must already be there.
      const { requirements = [], shown } = about.confirmation ?? {};
      const needed = addUp([...requirements, ...ruled], { notRequester });
      if (JSON.stringify(needed) !== JSON.stringify(requirements))
        return { ok: false, code: "policy-denied", message: OTHERS_MUST_APPROVE };
      const { amendable = true, expiresInMs, policy } = again.ruling;
      return {
        ok: true,
        args: again.args,
        requirements,
        shown: { hint: shown?.hint ?? "", why, amendable },
        ...(expiresInMs === undefined ? {} : { expiresInMs }),
        ...(policy === undefined ? {} : { policy }),
        ...askingTerms("requester", again.ruling, requirements),
      };
    },
  };
}

const OTHERS_MUST_APPROVE =
  "With these arguments a policy requires other approvers. Deny it, and let the caller ask again.";

function describedTool(
  definition: ToolDefinition,
): Pick<GatedTool, "name" | "parameters" | "definition" | "parse"> {
  const shape = readShape(definition.parameters);
  const { jsonSchema: parameters } = shape;
  return {
    name: definition.name,
    ...(parameters === undefined ? {} : { parameters }),
    definition,
    parse: (args) => shape.parse(args),
  };
}

async function refuseToRun({ id }: CallRecord): Promise<never> {
  throw new CountersignError("internal", `The call ${id} is run by its caller.`);
}
