import { createHash } from "node:crypto";
import { PROOF_PLACE } from "./proof.ts";

// Everything is relative to /auth/login, wherever the server is mounted.
const SCRIPT = `
let link = "";
const form = document.querySelector("form");
const field = document.querySelector("input");
const told = document.querySelector("[role=alert]");
const takeLink = () => {
  if (location.hash === "") return;
  link = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
  form.querySelector("label").hidden = true;
  field.required = false;
};
takeLink();
addEventListener("hashchange", takeLink);
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const body = link ? { link } : { token: field.value.trim() };
  const headers = { "content-type": "application/json" };
  const answer = await fetch("login", { method: "POST", headers, body: JSON.stringify(body) });
  const said = await answer.json();
  if (!answer.ok) told.textContent = said.detail;
  else {
    localStorage.setItem("${PROOF_PLACE}", said.proof);
    location.replace("../");
  }
});`;

// The proof is in the page instead of the URL, because histories and logs contain URLs.
const COME_BACK = `
localStorage.setItem("${PROOF_PLACE}", document.documentElement.dataset.proof);
location.replace("../");`;

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 24rem; margin: 20vh auto; padding: 0 1rem; color-scheme: light dark; }
input, button { font: inherit; padding: .5rem; width: 100%; box-sizing: border-box; margin: .5rem 0; }
[role=alert] { color: #c22; }`;

/**
 * A page that logs in a browser: with the link that led here, or with a token that is typed in. It does nothing without
 * a click.
 */
export const LOGIN_PAGE: string = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Log in · Countersign</title>
<style>${STYLE}</style>
<h1>Countersign</h1>
<form>
<label>Token <input type="password" name="token" autocomplete="current-password" required></label>
<button>Log in</button>
<p role="alert"></p>
</form>
<script>${SCRIPT}</script>
`;

/** The page for a browser that returns from an issuer: it stores the proof and opens the inbox. */
export function loggedInPage(proof: string): string {
  return `<!doctype html>
<html lang="en" data-proof="${proof}">
<meta charset="utf-8">
<title>Logged in · Countersign</title>
<style>${STYLE}</style>
<p>Logged in. <a href="../">Go to the inbox</a></p>
<script>${COME_BACK}</script>
`;
}

export const LOGIN_PAGE_POLICY: string = policyFor(SCRIPT, "connect-src 'self'");
export const LOGGED_IN_PAGE_POLICY: string = policyFor(COME_BACK);

function policyFor(script: string, ...more: readonly string[]): string {
  return [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(STYLE)}'`,
    ...more,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
