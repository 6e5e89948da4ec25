import type { Context } from "hono";
import type { HttpEnv } from "../env.ts";

/** Adds headers to a finished answer; with `unlessSaid`, existing headers stay. */
export function addHeaders(
  context: Context<HttpEnv>,
  headers: Readonly<Record<string, string>>,
  { unlessSaid = false }: { readonly unlessSaid?: boolean } = {},
): void {
  // Some answers, such as redirects, are immutable.
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
