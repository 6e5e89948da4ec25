import type { LoginMode } from "../../engine/index.ts";
import { shortPath } from "../agents/load-agents.ts";
import type { Invocation } from "../command.ts";
import { padTo, textWidth } from "../display/text-width.ts";
import { inert, type Output } from "../output.ts";
import type { TenantsOptions } from "../tenants/tenant-options.ts";
import type { ListeningSite, OpenSite } from "./open-site.ts";
import type { ServeOptions } from "./serve-options.ts";

const AUTH_WORDS: Readonly<Record<LoginMode, string>> = {
  none: "none: anyone on this machine can decide",
  local: "local: the link below logs in one browser, once",
  tokens: "tokens: requests need a token from `countersign tokens create`",
  oidc: "oidc: requests need a token from your identity provider",
};

/** Prints what is served, where, for whom, and on which ledger; for programs as one line of JSON. */
export function announce(invocation: Invocation, site: OpenSite, options: ServeOptions): void {
  const { output, flags, env } = invocation;
  const signed = Boolean(env["COUNTERSIGN_SECRET"]);
  const { url, served, broken, loginLink, webhookSecret } = site;
  const { ledger, auth } = options;
  if (flags.has("json")) {
    const apps = served.map(({ app }) => app);
    const faults = broken.map(({ app, file, reason }) => ({ app, file, reason }));
    const shownOnce = { loginLink, webhookSecret };
    output.jsonLine({
      url,
      apps,
      broken: faults,
      ledger: withoutPassword(ledger),
      auth,
      signed,
      ...shownOnce,
    });
    return;
  }
  output.line(`Countersign is running at ${output.style(["bold", "cyan"], url)}`);
  output.line();
  if (served.length === 0) output.line(`  Inbox only, no agents: ${inert(withoutPassword(ledger))}`);
  else printAgents(output, served);
  output.line();
  printRows(output, [
    ["ledger", inert(withoutPassword(ledger))],
    ["auth", AUTH_WORDS[auth]],
    ["signed", signed ? "yes, with COUNTERSIGN_SECRET" : "no: set COUNTERSIGN_SECRET to sign decisions"],
  ]);
  if (loginLink !== undefined) {
    output.line();
    output.line(`Log in with this one-time link: ${output.style("cyan", loginLink)}`);
  }
  if (webhookSecret !== undefined) {
    output.line();
    output.line("Webhook messages are signed with this secret. It is shown only once:");
    output.line(`  ${webhookSecret}`);
  }
}

/** The same for a server of many tenants. */
export function announceTenants(
  { output, flags }: Invocation,
  { url }: ListeningSite,
  { tenants, agents }: { readonly tenants: TenantsOptions; readonly agents: OpenSite["served"] },
): void {
  const { publicUrl } = tenants;
  const registry = withoutPassword(tenants.registry);
  if (flags.has("json")) {
    output.jsonLine({ url, apps: agents.map(({ app }) => app), registry, publicUrl });
    return;
  }
  output.line(`Countersign is running at ${output.style(["bold", "cyan"], url)}`);
  output.line();
  if (agents.length > 0) {
    printAgents(output, agents);
    output.line();
  }
  printRows(output, [
    ["registry", inert(registry)],
    ["tenants", `each at ${inert(publicUrl)}`],
  ]);
}

function printAgents(output: Output, agents: OpenSite["served"]): void {
  printRows(
    output,
    agents.map(({ app, file }) => [inert(app), inert(shortPath(file))]),
  );
}

/** Prints agents that could not be loaded to standard error: which file, and why. */
export function warnBroken({ broken }: Pick<OpenSite, "broken">, output: Output): void {
  for (const { file, reason } of broken) {
    output.prose(`${output.style("red", "not served:")} ${inert(shortPath(file))}: ${inert(reason)}`);
  }
}

/** A URL that may be shown. */
export function withoutPassword(url: string): string {
  return url.replace(/^([a-z+]+:\/\/[^:@/]*):[^@/]*@/, "$1:…@");
}

function printRows(output: Output, rows: readonly (readonly [string, string])[]): void {
  const left = Math.max(...rows.map(([name]) => textWidth(name)));
  for (const [name, text] of rows) output.prose(text, `  ${padTo(name, left)}  `);
}
