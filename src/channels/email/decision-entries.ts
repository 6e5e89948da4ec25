import type { Confirmation } from "../../engine/index.ts";
import { isJsonObject, type JsonObject, parseJson } from "../../protocol/index.ts";
import type { ChannelApprovals, InboundAnswer, InboundRequest, Receive } from "../inbound.ts";
import { addressHash, type DecisionLinks, type FoundLink } from "./decision-links.ts";
import { DECISION_PAGE, DECISION_PAGE_POLICY } from "./decision-page.ts";
import type { EmailPerson } from "./email-options.ts";
import { cardRows, statusOf } from "./mail.ts";

const MOST_BYTES = 16_384;
const MOST_REASON = 2_000;
/** How the decision was sent, as its record says it. */
const VIA = "mail link";
const INVALID = "This link is not valid, or it has expired. Open the question in the inbox.";
const USED = "This link has been used. Open the question in the inbox to see what became of it.";
const NOT_ASKED = "You are no longer asked about this. Nothing was decided.";
const CHANGED = "The question has changed since the mail was sent. Open it in the inbox.";

/** What the entries work with. */
export interface DecisionParts {
  readonly links: DecisionLinks;
  readonly people: readonly EmailPerson[];
}

/**
 * Where links in mails lead. `link` is a page, the same for everybody: to open it does nothing. `card` shows the
 * question to whoever sends the link's secret, and `decision` decides it, once, as the person whom the mail was sent to.
 */
export function decisionEntries(parts: DecisionParts): { readonly [entry: string]: Receive } {
  return {
    link: async ({ method }) =>
      method === "GET" || method === "HEAD"
        ? { status: 200, page: { html: DECISION_PAGE, contentSecurityPolicy: DECISION_PAGE_POLICY } }
        : { status: 405 },
    card: async (request, approvals) => {
      const held = await holderOf(parts, request, approvals);
      return "status" in held ? held : showCard(held);
    },
    decision: async (request, approvals) => {
      const held = await holderOf(parts, request, approvals);
      return "status" in held ? held : decide(parts, held, approvals);
    },
  };
}

/** A good link, with the question that it opens and what else was sent. */
interface Held {
  readonly link: FoundLink;
  readonly person: EmailPerson;
  readonly about: Confirmation;
  readonly body: JsonObject;
}

async function holderOf(
  { links, people }: DecisionParts,
  request: InboundRequest,
  approvals: ChannelApprovals,
): Promise<Held | InboundAnswer> {
  if (request.method !== "POST") return { status: 405 };
  const body = readBody(request);
  const text = body?.["link"];
  if (body === undefined || typeof text !== "string") return told(400, "Send the link as JSON.");
  const link = await links.find(text);
  if (link === undefined) return told(401, INVALID);
  const person = people.find(({ id, email }) => id === link.person && addressHash(email) === link.to);
  if (person === undefined) {
    await approvals.refuse(link.confirmation, `mail:${link.person}`);
    return told(401, INVALID);
  }
  if (link.isUsed) return told(410, USED);
  const about = await approvals.read(link.confirmation, person);
  if (about?.byMail !== true) return told(401, INVALID);
  return overOf(about, link) ?? { link, person, about, body };
}

/** Why nothing can be decided any more with a link that was good. */
function overOf(about: Confirmation, { version }: FoundLink): InboundAnswer | undefined {
  if (about.status !== "requested") return told(410, statusOf(about));
  return about.version === version && about.truncated !== true ? undefined : told(410, CHANGED);
}

function readBody({ body }: InboundRequest): JsonObject | undefined {
  const parsed = parseJson(new TextDecoder().decode(body), { maxBytes: MOST_BYTES });
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : undefined;
}

function showCard({ about }: Held): InboundAnswer {
  if (!about.can.decide) return told(403, NOT_ASKED);
  const rows = cardRows(about).map((row) => [...row]);
  return { status: 200, json: { title: statusOf(about), rows } };
}

async function decide(
  { links }: DecisionParts,
  { link, person, body }: Held,
  approvals: ChannelApprovals,
): Promise<InboundAnswer> {
  const { confirmed, reason } = body;
  if (typeof confirmed !== "boolean") return told(400, "`confirmed` must be true or false.");
  if (reason !== undefined && (typeof reason !== "string" || reason.length > MOST_REASON))
    return told(400, `\`reason\` must be a text of at most ${MOST_REASON} characters.`);
  const { confirmation: id, version, uses } = link;
  const said = { id, version, confirmed, ...(reason === undefined ? {} : { reason }) };
  const decided = await approvals.decide(said, person, { via: VIA, uses });
  if (!decided.ok) return told(409, decided.code === "forbidden" ? USED : decided.message);
  // A decision that was stored before commits nothing, so the link is still to be used up.
  await links.markUsed(link);
  return { status: 200, json: { title: statusAfter(decided.confirmation) } };
}

function statusAfter(about: Confirmation): string {
  return about.status === "requested" ? "Your vote is stored. More people have to decide." : statusOf(about);
}

function told(status: number, detail: string): InboundAnswer {
  return { status, json: { detail } };
}
