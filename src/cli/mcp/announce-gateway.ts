import type { Invocation } from "../command.ts";
import { inert, type Output } from "../output.ts";
import { shellWord } from "../wiring.ts";
import type { GatewaySettings } from "./gateway-options.ts";

/** Prints what is gated and where to approve. Not on standard output, which the protocol uses. */
export function announceGateway(
  { flags }: Invocation,
  output: Output,
  { settings, url }: { readonly settings: GatewaySettings; readonly url: string | undefined },
): void {
  const { name, ledger, require } = settings;
  if (flags.has("json")) {
    output.jsonLine({ app: `mcp:${name}`, require: require ?? "all", ledger, ...(url && { url }) });
    return;
  }
  const tools = require === undefined ? "every tool" : require.map((tool) => inert(tool)).join(", ");
  output.line(`countersign: ${tools} of ${inert(name)} needs approval`);
  if (url !== undefined) output.line(`  clients    ${url}`);
  const command = import.meta.url.endsWith(".ts") ? "npm start --" : "npx countersign";
  const db = `--db ${shellWord(ledger)}`;
  output.line(`  inbox      ${command} serve --inbox-only ${db}`);
  output.line(`  terminal   ${command} pending --watch ${db}`);
}
