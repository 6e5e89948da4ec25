import type { Context } from "hono";
import type { HttpEnv } from "../env.ts";

/** Adds headers to an answer that is made already; what the answer says itself stays where `unlessSaid` is set. */
export function addHeaders(
  context: Context<HttpEnv>,
  headers: Readonly<Record<string, string>>,
  { unlessSaid = false }: { readonly unlessSaid?: boolean } = {},
): void {
  // Answers that came from elsewhere, a redirect for one, may not be changed.
  const answer = context.res;
  const added = Object.entries(headers).filter(([name]) => !unlessSaid || !answer.headers.has(name));
  try {
    for (const [name, value] of added) answer.headers.set(name, value);
  } catch {
    const changeable = new Response(answer.body, answer);
    for (const [name, value] of added) changeable.headers.set(name, value);
    context.res = undefined;
    context.res = changeable;
  }
}
