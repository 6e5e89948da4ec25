import { sessionOf } from "../../common/index.ts";
import type { CallRecord, Page, UnknownCallsRequest } from "../../ledger/index.ts";
import { isAgentsOwn, ruleWithoutQuestion, viewersOf } from "../../people/index.ts";
import type { Packed, SessionDocument } from "../document.ts";
import { copyRow } from "../long-values.ts";
import { afterOf, limitOf, toPage } from "../pages.ts";
import { SessionRows } from "../rows.ts";
import type { Entry, Store } from "../store.ts";

const PAGE = 200;

type ListedCall = CallRecord & { readonly truncated?: true };

/** Calls whose outcome is unknown, oldest first. */
export async function listUnknownCalls(
  store: Store,
  request: UnknownCallsRequest,
): Promise<Page<ListedCall>> {
  const limit = limitOf(request);
  let place = afterOf(request, [""])[0] ?? "";
  const found: ListedCall[] = [];
  for (;;) {
    const [entries = []] = await store.entries([
      { facet: "unknown call", value: "", limit: PAGE, after: [0, place] },
    ]);
    for (const { document, call } of await readCalls(store, entries)) {
      if (fits(request, document, call))
        found.push(await toListed(store, { document, call, preview: request.preview === true }));
    }
    place = entries.at(-1)?.id ?? place;
    if (entries.length < PAGE || found.length > limit) return toPage(found, limit, ({ id }) => [id]);
  }
}

interface FoundCall {
  readonly document: SessionDocument;
  readonly call: Packed<CallRecord>;
}

async function readCalls(store: Store, entries: readonly Entry[]): Promise<readonly FoundCall[]> {
  const loaded = await store.loadAll([...new Set(entries.map(({ id }) => sessionOf(id)))]);
  const documents = new Map(loaded.map(({ key, document }) => [key, document]));
  return entries.flatMap(({ id }) => {
    const document = documents.get(sessionOf(id));
    const call = document?.calls.find((each) => each.id === id);
    return document === undefined || call === undefined ? [] : [{ document, call }];
  });
}

function fits(
  { unasked, askedBy, ofAgents, grantedTo = [] }: UnknownCallsRequest,
  { head }: SessionDocument,
  call: CallRecord,
): boolean {
  const { confirmation, requesters = [head.user] } = call;
  if (unasked === true && confirmation !== undefined && call.grant === undefined) return false;
  if (askedBy === undefined || requesters.some((each) => askedBy.includes(each))) return true;
  if (call.grant !== undefined)
    return viewersOf(ruleWithoutQuestion(call, head.user)).some((one) => grantedTo.includes(one));
  return ofAgents === true && isAgentsOwn(call);
}

async function toListed(
  store: Store,
  { document, call, preview }: FoundCall & { readonly preview: boolean },
): Promise<ListedCall> {
  if (!preview) return new SessionRows(store, call.session, document).whole<CallRecord>(call, call.id);
  const { long, ...cut } = call;
  return { ...copyRow(cut), ...(long === undefined ? {} : { truncated: true as const }) };
}
