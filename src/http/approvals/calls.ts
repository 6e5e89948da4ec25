import {
  type Call,
  type CallRecord,
  type Directory,
  isVouched,
  type Ledger,
  loginsOf,
  type Page,
  type Principal,
  ruleOfSettling,
  toCall,
  type UnknownCallsRequest,
  viewsAs,
} from "../../engine/index.ts";
import { type CursorUse, openCursor, sealCursor } from "../cursors.ts";
import { hasScope } from "../scopes.ts";
import type { Site } from "../site.ts";
import { maySee } from "./visibility.ts";

/** The process that holds, or last held, the claim on a call. */
export interface CallOwner {
  readonly host: string;
  readonly pid: number;
  readonly lastBeatAt: string;
  readonly alive: boolean;
}

/** A call without a confirmation, as it is shown to the person who settles it. */
export interface CallView extends Call {
  readonly owner?: CallOwner;
}

/** Unknown calls without a confirmation that the principal may see, oldest first. */
export async function listUnknown(
  site: Site,
  { cursor, limit }: { readonly cursor?: string | undefined; readonly limit?: number | undefined },
  principal: Principal,
): Promise<Page<CallView>> {
  const ledger = await site.ledger();
  const directories = (await site.countings()).map(({ directory }) => directory);
  const countingOf = await site.countingByApp();
  const use: CursorUse = { list: "/v1/unknown", principal };
  const page = await ledger.unknownCalls({
    preview: true,
    unasked: true,
    ...requestersFor(principal, directories),
    ...(limit === undefined ? {} : { limit }),
    ...(cursor === undefined ? {} : { cursor: openCursor(ledger, use, cursor) }),
  });
  const items: CallView[] = [];
  for (const call of page.items) {
    const session = (await ledger.load({ sessionKey: call.session }))?.session;
    if (session === undefined) continue;
    // The policy of another app may take two logins for one person.
    const rule = ruleOfSettling(call, undefined, session.user);
    const isSeen = directories.length === 1 || maySee(rule, principal, countingOf(call.app));
    if (isSeen || isVouched(principal)) items.push(await showCall(ledger, call, session));
  }
  return page.next === undefined ? { items } : { items, next: sealCursor(ledger, use, page.next) };
}

/** The calls that somebody may see under `ruleWithoutQuestion`. */
function requestersFor(
  principal: Principal,
  directories: readonly Directory[],
): Pick<UnknownCallsRequest, "askedBy" | "ofAgents" | "grantedTo"> {
  if (hasScope(principal, "admin") || isVouched(principal)) return {};
  const { id, onBehalfOf, kind, authenticated } = principal;
  return {
    askedBy: directories.flatMap((directory) =>
      [id, onBehalfOf ?? id].flatMap((login) => loginsOf(login, directory)),
    ),
    grantedTo: [...new Set(directories.flatMap((directory) => viewsAs(principal, directory)))],
    ...(authenticated && kind !== "agent" ? { ofAgents: true } : {}),
  };
}

export async function showCall(
  ledger: Ledger,
  call: CallRecord & { readonly truncated?: true },
  session: { readonly id: string; readonly user: string },
): Promise<CallView> {
  return { ...toCall(call, session), ...(await ownerOf(ledger, call)) };
}

/** The process that holds the claim on the call, for the person who must find out what it did. */
export async function ownerOf(
  ledger: Pick<Ledger, "owners">,
  { owner }: Pick<CallRecord, "owner">,
): Promise<{ readonly owner?: CallOwner }> {
  const state = owner === undefined ? undefined : await ledger.owners.get(owner);
  if (state === undefined) return {};
  const { host, pid, lastBeatAt, alive } = state;
  return { owner: { host, pid, lastBeatAt: iso(lastBeatAt), alive } };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
