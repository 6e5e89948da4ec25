/**
 * What commands need of tokens and logins. It is separate from `http`, whose index loads all routes of the server.
 */

export { isScope, SCOPES, type Scope } from "../scopes.ts";
export { type Login, Logins } from "./logins.ts";
export { assertSafeBind } from "./safe-bind.ts";
export { type Token, Tokens } from "./tokens.ts";
