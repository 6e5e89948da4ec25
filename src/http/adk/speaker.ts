import type { Principal } from "../../engine/index.ts";
import type { ErrorCode } from "../../protocol/index.ts";
import type { ReadMessage } from "../../runtime/index.ts";
import { actingFor } from "../acting-for.ts";
import { checkScope } from "../scopes.ts";
import type { Site } from "../site.ts";

/** If a message has more answers than this, the attempts are not journalled one by one. */
const MOST_RECORDED = 20;

/**
 * Who speaks for a user, if the caller may. For a message that only answers, `decide` is as good as `run`. If they may
 * not, and the message decides something, the attempt is journalled. Throws `forbidden`.
 */
export async function speakerFor(
  site: Site,
  caller: Principal,
  {
    user,
    message,
    via = "adk",
  }: { readonly user: string; readonly message: ReadMessage; readonly via?: string },
): Promise<Principal> {
  const { decisions, rest } = message;
  const answersOnly = decisions.length > 0 && rest.length === 0;
  try {
    checkScope(caller, ...(answersOnly ? (["run", "decide"] as const) : (["run"] as const)));
    return actingFor(caller, user);
  } catch (error) {
    await noteRefused(site, decisions, { code: "forbidden", by: caller, via });
    throw error;
  }
}

/** Journals that somebody tried to decide these, and was refused before their rules were asked. */
export async function noteRefused(
  site: Site,
  decisions: ReadMessage["decisions"],
  { code, by, via }: { readonly code: ErrorCode; readonly by: Principal; readonly via: string },
): Promise<void> {
  const engine = await site.engine();
  for (const { id } of decisions.slice(0, MOST_RECORDED))
    await engine.decisions.noteRefusal({ confirmation: id }, { code, what: "decide" }, { by, via });
}
