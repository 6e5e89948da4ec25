import type { Context } from "hono";
import type { Confirmation } from "../../engine/index.ts";
import type { HttpEnv } from "../env.ts";
import type { Site } from "../site.ts";
import { VIA } from "./record-refusal.ts";
import { find, show } from "./visibility.ts";

/** Notes that the caller has opened the question. Only the first time changes anything, so a key is not needed. */
export async function viewOne(site: Site, context: Context<HttpEnv>, id: string): Promise<Confirmation> {
  const principal = context.get("principal");
  const found = await find(site, id, principal);
  const engine = await site.engine(found.confirmation.app);
  const seen = await engine.decisions.noteSighting(id, { by: principal, via: VIA });
  return show(seen ?? found, principal, await engine.counting());
}
