import type {
  CallRecord,
  Confirmation,
  ConfirmationWithCall,
  Counting,
  Ledger,
  Principal,
  SessionRecord,
} from "../../engine/index.ts";
import { displayText, type JsonObject } from "../../protocol/index.ts";
import { show } from "../approvals/visibility.ts";
import { cardLink } from "../links.ts";
import type { Site } from "../site.ts";
import type { Interrupt } from "./events.ts";

/** AG-UI's word for a question about a tool call. */
const ABOUT_A_CALL = "tool_call";
/** A call that may or may not have run. */
const OUTCOME_UNKNOWN = "countersign:outcome_unknown";

type Linking = Pick<Site, "publicUrl" | "basePath">;

/** What a session waits for: open questions, and calls whose outcome a person must settle. */
export async function interruptsOf(
  site: Linking,
  ledger: Ledger,
  {
    session,
    viewer,
    counting,
  }: { readonly session: SessionRecord; readonly viewer: Principal; readonly counting: Counting },
): Promise<readonly Interrupt[]> {
  const open =
    session.open === 0
      ? []
      : (await ledger.confirmations({ state: "open", session: session.key }, { limit: session.open })).items;
  const asked = open.toSorted(byAsking).map((item) => toInterrupt(site, show(item, viewer, counting)));
  const unknown = (await unknownIn(ledger, session.key)).map((call) => toUnknown(site, call));
  return [...asked, ...unknown];
}

function toInterrupt(site: Linking, question: Confirmation): Interrupt {
  const { id, callId, hint, tool, args, expiresAt, payload, can } = question;
  return {
    id,
    reason: ABOUT_A_CALL,
    message: displayText(hint),
    toolCallId: callId,
    responseSchema: answerSchema(question),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    metadata: {
      tool,
      args,
      ...(payload === undefined ? {} : { payload }),
      canDecide: can.decide,
      link: cardLink(site, id),
    },
  };
}

function answerSchema({ schema }: Confirmation): JsonObject {
  return {
    type: "object",
    properties: {
      approved: { type: "boolean" },
      reason: { type: "string" },
      payload: schema ?? {},
    },
    required: ["approved"],
    additionalProperties: false,
  };
}

function toUnknown(site: Linking, call: CallRecord): Interrupt {
  const id = call.confirmation ?? call.id;
  const link = cardLink(site, id);
  return {
    id,
    reason: OUTCOME_UNKNOWN,
    message: `It is unknown whether ${call.tool} ran. Settle it in the inbox: ${link}`,
    toolCallId: call.wireId,
    metadata: { tool: call.tool, canDecide: false, link },
  };
}

async function unknownIn(ledger: Ledger, session: string): Promise<readonly CallRecord[]> {
  const frames = await ledger.liveFrames(session);
  const calls = await ledger.calls(frames.flatMap(({ calls: ids }) => ids));
  return calls.filter(({ status }) => status === "unknown");
}

// Questions of one turn have the same time; they are listed in the order of its calls.
function byAsking(one: ConfirmationWithCall, other: ConfirmationWithCall): number {
  return one.confirmation.requestedAt - other.confirmation.requestedAt || one.call.ord - other.call.ord;
}
