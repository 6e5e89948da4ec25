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

// The tokens of the inbox (docs/design.md); this page must work without any other file.
const STYLE = `
:root { color-scheme: light dark; --ground: #f6f6f4; --surface: #fff; --line: #c9c9c2; --text: #1a1b1e; --muted: #5d5f66; --accent: #3b3fc4; --on-accent: #fff; --fault: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ground: #111214; --surface: #18191c; --line: #484b52; --text: #ececee; --muted: #a3a6ae; --accent: #a5a8ff; --on-accent: #12132b; --fault: #ff8a80; } }
* { box-sizing: border-box; }
body { display: grid; place-content: center; min-block-size: 100dvh; margin: 0; padding: 1rem; background: var(--ground); color: var(--text); font: 15px/1.5 ui-sans-serif, system-ui, sans-serif; }
main { inline-size: min(24rem, calc(100vw - 2rem)); padding: 1.5rem; border: 1px solid var(--line); border-radius: 12px; background: var(--surface); }
h1 { display: flex; align-items: center; gap: .5rem; margin: 0 0 1rem; font-size: 1.25rem; letter-spacing: -.02em; }
svg { inline-size: 28px; block-size: 28px; }
rect { fill: var(--accent); }
path { fill: none; stroke: var(--on-accent); stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
label { color: var(--muted); font-size: 13px; }
input, button { inline-size: 100%; min-block-size: 44px; margin-block: .25rem .75rem; padding: .5rem .75rem; border: 1px solid var(--line); border-radius: 8px; background: var(--surface); color: var(--text); font: inherit; }
button { border-color: var(--accent); background: var(--accent); color: var(--on-accent); font-weight: 600; cursor: pointer; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
a { color: inherit; }
[role=alert] { margin: 0; color: var(--fault); }`;

const MARK = `<svg viewBox="0 0 24 24" aria-hidden="true"><rect width="24" height="24" rx="6"/><path d="M6.5 12.2l3.9 3.9L17.6 8"/><path d="M6.5 19h11"/></svg>`;

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
<main>
<h1>${MARK}Countersign</h1>
<form>
<label>Token <input type="password" name="token" autocomplete="current-password" required></label>
<button>Log in</button>
<p role="alert"></p>
</form>
</main>
<script>${SCRIPT}</script>
`;

/** The page for a browser that returns from an issuer: it stores the proof and opens the inbox. */
export function loggedInPage(proof: string): string {
  return `<!doctype html>
<html lang="en" data-proof="${proof}">
<meta charset="utf-8">
<title>Logged in · Countersign</title>
<style>${STYLE}</style>
<main><h1>${MARK}Countersign</h1><p>Logged in. <a href="../">Go to the inbox</a></p></main>
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
