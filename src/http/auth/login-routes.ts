import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Principal } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import type { HttpEnv } from "../env.ts";
import { newRoutes, serve } from "../operation.ts";
import type { Known } from "./bearer.ts";
import { clearCookie, cookieForm, cookieOf, setCookie } from "./cookie.ts";
import { LOGGED_IN_PAGE_POLICY, LOGIN_PAGE, LOGIN_PAGE_POLICY, loggedInPage } from "./login-page.ts";
import type { Logins } from "./logins.ts";
import { AWAY_MS, type OidcLogin } from "./oidc/oidc-login.ts";
import { PROOF_HEADER, proofOf } from "./proof.ts";
import { tokenIdOf } from "./tokens.ts";

/** What somebody logs in with: a token, or the secret of a login link. */
export type Proof = { readonly token: string } | { readonly link: string };

const PROOF: z.ZodType<Proof> = z
  .union([z.strictObject({ token: z.string() }), z.strictObject({ link: z.string() })])
  .openapi({ description: "A token, or the secret of a login link." });

const PERSON = z.object({
  id: z.string(),
  kind: z.string(),
  roles: z.array(z.string()),
  scopes: z.array(z.string()),
  authenticated: z.boolean(),
});

const LOG_IN = {
  method: "post",
  path: "/auth/login",
  summary: "Log in a browser. The answer sets a cookie that is valid on this origin, together with the proof",
  tag: "identity",
  body: PROOF,
  answer: {
    description: "The user, and the proof that the page must send",
    schema: z.object({
      principal: PERSON,
      proof: z.string().openapi({ description: `Send this as ${PROOF_HEADER} with every request.` }),
    }),
  },
} as const;
const LOG_OUT = {
  method: "post",
  path: "/auth/logout",
  summary: "Log out this browser",
  tag: "identity",
  answer: { description: "Logged out", schema: z.object({}) },
} as const;

export interface LoginRoutesOptions {
  readonly logins: Logins;
  readonly publicUrl: string | undefined;
  /** Whom a token or a link belongs to. */
  readonly prove: (proof: Proof) => Promise<Known | undefined>;
  readonly oidc?: OidcLogin;
  readonly now: () => number;
}

/** The name of the cookie of a browser that is logged in, before the prefix that https adds. */
export const LOGIN_COOKIE = "countersign";
const AWAY_COOKIE = "countersign-away";

/** Where a browser logs in and out. */
export function loginRoutes({
  logins,
  publicUrl,
  prove,
  oidc,
  now,
}: LoginRoutesOptions): OpenAPIHono<HttpEnv> {
  const form = cookieForm(publicUrl, LOGIN_COOKIE, "Strict");
  // The cookie must be sent when the issuer redirects the browser back, which Strict would prevent.
  const away = cookieForm(publicUrl, AWAY_COOKIE, "Lax");
  const admit = async (
    context: Context<HttpEnv>,
    known: Known | undefined,
  ): Promise<{ readonly principal: Principal; readonly proof: string }> => {
    if (known === undefined) throw new CountersignError("unauthenticated", "Invalid or expired login.");
    const { cookie, proof, until } = await logins.begin(known);
    context.header("set-cookie", setCookie(form, cookie, until - now()), { append: true });
    return { principal: known.principal, proof };
  };
  const app = newRoutes();
  app.get("/auth/login", async (context) => {
    if (oidc === undefined)
      return context.html(LOGIN_PAGE, 200, { "content-security-policy": LOGIN_PAGE_POLICY });
    const { location, browser } = await oidc.begin();
    context.header("set-cookie", setCookie(away, browser, AWAY_MS));
    return context.redirect(location, 302);
  });
  app.get("/auth/callback", async (context) => {
    if (oidc === undefined) throw new CountersignError("unknown-route", "OIDC login is not configured.");
    const { searchParams } = new URL(context.req.url);
    const { proof } = await admit(context, await oidc.finish(searchParams, cookieOf(context.req.raw, away)));
    context.header("set-cookie", clearCookie(away), { append: true });
    return context.html(loggedInPage(proof), 200, { "content-security-policy": LOGGED_IN_PAGE_POLICY });
  });
  serve(app, LOG_IN, async (context, { body }) => {
    const tried = "token" in body ? tokenIdOf(body.token) : undefined;
    if (tried !== undefined) context.set("triedToken", tried);
    return context.json(await admit(context, await prove(body)));
  });
  serve(app, LOG_OUT, async (context) => {
    const cookie = cookieOf(context.req.raw, form);
    if (cookie !== undefined) await logins.end({ cookie, proof: proofOf(context.req.raw) });
    return context.json({}, 200, { "set-cookie": clearCookie(form) });
  });
  return app;
}
