import { CHANNELS_FLAG } from "../channels/channel-settings.ts";
import { type Command, LEDGER_FLAG } from "../command.ts";
import { padTo, textWidth, wrapTo } from "../display/text-width.ts";
import { checkAgents } from "../doctor/check-agents.ts";
import { checkChannels } from "../doctor/check-channels.ts";
import { checkLedger } from "../doctor/check-ledger.ts";
import { checkPolicyFile } from "../doctor/check-policy.ts";
import { checkAuth, checkNode, checkPackages, checkSecret } from "../doctor/check-setting.ts";
import { checkStandbys } from "../doctor/check-standbys.ts";
import type { Finding } from "../doctor/finding.ts";
import { EXIT } from "../exit-codes.ts";
import { inert, type Output, type Style } from "../output.ts";
import { POLICY_FLAG } from "../policy/open-policy.ts";
import { SERVE_FLAGS, settingOf } from "../serving/serve-options.ts";
import { ledgerUrl, listenUrl } from "../wiring.ts";

const STYLES: Readonly<Record<Finding["status"], Style>> = { ok: "green", warn: "yellow", fail: "red" };
const STATUS_WIDTH = 4;

export const doctor: Command = {
  usage: "[FOLDER|FILE…] [--db URL] [--host HOST] [--auth MODE]",
  about:
    "Checks Node.js, the ledger (exists, writable, schema, intact, clock), the secret, auth and address as `serve` " +
    "would use them, the channels (tokens, people) and optional packages. If you name agents, it also checks their tools: which ones run without " +
    "approval, and which ones could bypass it. It changes nothing. The exit code is 1 if a check fails.",
  words: { names: ["FOLDER"], optional: true, many: true },
  flags: {
    host: { ...SERVE_FLAGS["host"], type: "string", help: "the value that `serve` would use" },
    auth: { ...SERVE_FLAGS["auth"], type: "string", help: "the value that `serve` would use" },
    "read-url": { ...SERVE_FLAGS["read-url"], type: "string", help: "the value that `serve` would use" },
    policy: { ...POLICY_FLAG["policy"], type: "string", help: "the policy file (COUNTERSIGN_POLICY)" },
    ...CHANNELS_FLAG,
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "doctor", says: "checks the ledger and configuration of this folder" },
    { line: "doctor agents --db sqlite:/data/ledger.db --auth tokens", says: "before going live" },
  ],
  async run(invocation) {
    const { output, flags, words } = invocation;
    const hasAuth = checkAuth(invocation).status === "ok";
    const findings = [
      checkNode(),
      ...(await checkLedger(ledgerUrl(invocation), listenUrl(invocation).listenUrl)),
      ...(await checkStandbys(ledgerUrl(invocation), settingOf(invocation, "read-url"))),
      checkSecret(invocation),
      checkAuth(invocation),
      ...checkPackages(invocation),
      ...checkPolicyFile(invocation),
      ...(await checkChannels(invocation)),
      ...(words.length === 0 ? [] : await checkAgents(words, hasAuth)),
    ];
    const failed = findings.some(({ status }) => status === "fail");
    if (flags.has("json")) output.json({ ok: !failed, findings });
    else print(output, findings);
    return failed ? EXIT.failed : EXIT.ok;
  },
};

function print(output: Output, findings: readonly Finding[]): void {
  const left = Math.max(...findings.map(({ about }) => textWidth(inert(about))));
  const indent = " ".repeat(STATUS_WIDTH + left + 4);
  const printLines = (lead: string, text: string, styles: readonly Style[]): void => {
    const [first = "", ...rest] = wrapTo(text, output.width - indent.length);
    output.line(`${lead}${output.style(styles, first)}`);
    for (const line of rest) output.line(`${indent}${output.style(styles, line)}`);
  };
  for (const { about, status, message, advice } of findings) {
    const mark = output.style(STYLES[status], padTo(status, STATUS_WIDTH));
    printLines(`${mark}  ${padTo(inert(about), left)}  `, inert(message), []);
    if (advice !== undefined) printLines(indent, `→ ${inert(advice)}`, ["dim"]);
  }
}
