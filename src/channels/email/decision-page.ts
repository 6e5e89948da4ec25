import { createHash } from "node:crypto";

// Everything is relative to /channels/<channel>/link, wherever the server is mounted. What the server says is only ever
// put into the page as text.
const SCRIPT = `
const find = (what) => document.querySelector(what);
const [title, rows, form, reason, told] = ["#title", "#rows", "form", "textarea", "[role=alert]"].map(find);
let link = "";
const post = async (path, body) => {
  try {
    const answer = await fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      credentials: "omit",
    });
    const said = await answer.json();
    return answer.ok ? said : { fault: said.detail };
  } catch {
    return { fault: "The server did not answer. Try again." };
  }
};
const element = (name, text) => {
  const made = document.createElement(name);
  made.textContent = text;
  made.dir = "auto";
  return made;
};
const show = (said) => {
  if (said.title !== undefined) title.textContent = said.title;
  told.textContent = said.fault ?? "";
};
const readCard = async () => {
  const said = await post("card", { link });
  show(said);
  if (said.fault !== undefined) return;
  rows.replaceChildren(...said.rows.flatMap(([name, value]) => [element("dt", name), element("dd", value)]));
  form.hidden = false;
};
const takeLink = () => {
  if (location.hash === "") return;
  link = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
  rows.replaceChildren();
  form.hidden = true;
  void readCard();
};
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const buttons = form.querySelectorAll("button");
  for (const button of buttons) button.disabled = true;
  const confirmed = event.submitter.value === "approve";
  const why = reason.value.trim();
  const said = await post("decision", { link, confirmed, ...(why === "" ? {} : { reason: why }) });
  show(said);
  if (said.fault === undefined) form.hidden = true;
  for (const button of buttons) button.disabled = false;
});
told.textContent = "Open the link from the mail.";
takeLink();
addEventListener("hashchange", takeLink);`;

// The tokens of the inbox (docs/design.md); this page must work without any other file.
const STYLE = `
:root { color-scheme: light dark; --ground: #f6f6f4; --surface: #fff; --line: #c9c9c2; --text: #1a1b1e; --muted: #5d5f66; --accent: #3b3fc4; --on-accent: #fff; --fault: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ground: #111214; --surface: #18191c; --line: #484b52; --text: #ececee; --muted: #a3a6ae; --accent: #a5a8ff; --on-accent: #12132b; --fault: #ff8a80; } }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { display: grid; justify-content: center; align-content: start; min-block-size: 100dvh; margin: 0; padding: 1rem; background: var(--ground); color: var(--text); font: 15px/1.5 ui-sans-serif, system-ui, sans-serif; }
main { inline-size: min(40rem, calc(100vw - 2rem)); padding: 1.5rem; border: 1px solid var(--line); border-radius: 12px; background: var(--surface); }
h1 { display: flex; align-items: center; gap: .5rem; margin: 0 0 1rem; font-size: 1.25rem; letter-spacing: -.02em; }
h2 { margin: 0 0 .75rem; font-size: 1rem; }
svg { inline-size: 28px; block-size: 28px; }
rect { fill: var(--accent); }
path { fill: none; stroke: var(--on-accent); stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
dl { margin: 0 0 1rem; }
dt, label { color: var(--muted); font-size: 13px; overflow-wrap: anywhere; }
dd { margin: 0 0 .5rem; white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; }
textarea, button { inline-size: 100%; min-block-size: 44px; margin-block: .25rem .75rem; padding: .5rem .75rem; border: 1px solid var(--line); border-radius: 8px; background: var(--surface); color: var(--text); font: inherit; }
button { font-weight: 600; cursor: pointer; }
button[value=approve] { border-color: var(--accent); background: var(--accent); color: var(--on-accent); }
button:disabled { opacity: .5; cursor: default; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
[role=alert] { margin: 0; color: var(--fault); }`;

const MARK = `<svg viewBox="0 0 24 24" aria-hidden="true"><rect width="24" height="24" rx="6"/><path d="M6.5 12.2l3.9 3.9L17.6 8"/><path d="M6.5 19h11"/></svg>`;

/**
 * The page of a link from a mail. It is the same for everybody: what it shows comes from the server, for the secret
 * behind the #. It decides nothing without a click.
 */
export const DECISION_PAGE: string = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>Decide · Countersign</title>
<style>${STYLE}</style>
<main>
<h1>${MARK}Countersign</h1>
<h2 id="title" aria-live="polite"></h2>
<dl id="rows"></dl>
<form hidden>
<label>Reason (the model and the requester see it) <textarea name="reason" rows="2" maxlength="2000"></textarea></label>
<button value="approve">Approve</button>
<button value="reject">Reject</button>
</form>
<p role="alert"></p>
</main>
<script>${SCRIPT}</script>
`;

export const DECISION_PAGE_POLICY: string = [
  "default-src 'none'",
  `script-src '${hashOf(SCRIPT)}'`,
  `style-src '${hashOf(STYLE)}'`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
