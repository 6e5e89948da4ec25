/** What commands need of tokens and logins: a door of its own, because the server's loads all its routes. */

export { isScope, SCOPES, type Scope } from "../scopes.ts";
export { type Login, Logins } from "./logins.ts";
export { assertSafeBind } from "./safe-bind.ts";
export { type Token, Tokens } from "./tokens.ts";
