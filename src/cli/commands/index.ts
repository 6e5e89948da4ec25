/**
 * The commands of `countersign`, one file each. Decided here: their names, their order in the help, and one line about each.
 */

import type { CommandEntry } from "../command.ts";

/** Every command, in the order in which the help lists them. The file of a command is loaded only when it is used. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: "demo",
    summary: "start a server with example agents; some requests wait for your approval",
    load: () => import("./demo.ts").then(({ demo }) => demo),
  },
  {
    name: "serve",
    summary: "serve agents: the ADK API, the approvals API and the inbox",
    load: () => import("./serve.ts").then(({ serve }) => serve),
  },
  {
    name: "run",
    summary: "talk to an agent in the terminal, and answer its questions",
    load: () => import("./run.ts").then(({ run }) => run),
  },
  {
    name: "mcp",
    summary: "put an approval gate in front of an MCP server",
    load: () => import("./mcp.ts").then(({ mcp }) => mcp),
  },
  {
    name: "hook",
    summary: "ask before a coding agent uses a tool",
    load: () => import("./remote/hook.ts").then(({ hook }) => hook),
  },
  {
    name: "permission-prompt",
    summary: "an MCP server that answers Claude Code's permission prompts",
    load: () => import("./remote/permission-prompt.ts").then(({ permissionPrompt }) => permissionPrompt),
  },
  {
    name: "exec",
    summary: "ask before running a command; run it at most once",
    load: () => import("./remote/exec.ts").then(({ exec }) => exec),
  },
  {
    name: "pending",
    summary: "list what waits for a person, nearest deadline first",
    load: () => import("./pending.ts").then(({ pending }) => pending),
  },
  {
    name: "show",
    summary: "show one confirmation: what would run, who may decide, what happened",
    load: () => import("./show.ts").then(({ show }) => show),
  },
  {
    name: "approve",
    summary: "approve one call; it runs at most once",
    load: () => import("./approve.ts").then(({ approve }) => approve),
  },
  {
    name: "deny",
    summary: "deny one call; it does not run",
    load: () => import("./deny.ts").then(({ deny }) => deny),
  },
  {
    name: "withdraw-vote",
    summary: "withdraw your own vote while more votes are needed",
    load: () => import("./withdraw-vote.ts").then(({ withdrawVote }) => withdrawVote),
  },
  {
    name: "cancel",
    summary: "withdraw a question, or an approval that has not started",
    load: () => import("./cancel.ts").then(({ cancel }) => cancel),
  },
  {
    name: "settle",
    summary: "record the outcome of an unknown call",
    load: () => import("./settle.ts").then(({ settle }) => settle),
  },
  {
    name: "grants list",
    summary: "list the grants: approvals that let further calls run without asking",
    load: () => import("./grants.ts").then(({ grantsList }) => grantsList),
  },
  {
    name: "grants revoke",
    summary: "revoke a grant: people are asked again",
    load: () => import("./grants.ts").then(({ grantsRevoke }) => grantsRevoke),
  },
  {
    name: "stats",
    summary: "print decision times, approval rates and suggested rules",
    load: () => import("./stats.ts").then(({ stats }) => stats),
  },
  {
    name: "delegations add",
    summary: "let somebody vote for a person who is away",
    load: () => import("./access/delegations.ts").then(({ delegationsAdd }) => delegationsAdd),
  },
  {
    name: "delegations list",
    summary: "list who votes for whom",
    load: () => import("./access/delegations.ts").then(({ delegationsList }) => delegationsList),
  },
  {
    name: "delegations revoke",
    summary: "revoke a delegation; votes given through it no longer count",
    load: () => import("./access/delegations.ts").then(({ delegationsRevoke }) => delegationsRevoke),
  },
  {
    name: "audit verify",
    summary: "check the journal; exit code 1 if it was changed",
    load: () => import("./audit/verify.ts").then(({ auditVerify }) => auditVerify),
  },
  {
    name: "audit head",
    summary: "seal the journal and print its head, to store elsewhere",
    load: () => import("./audit/head.ts").then(({ auditHead }) => auditHead),
  },
  {
    name: "audit publish",
    summary: "send a signed receipt of the journal's head elsewhere",
    load: () => import("./audit/publish.ts").then(({ auditPublish }) => auditPublish),
  },
  {
    name: "audit key",
    summary: "print the public key with which receipts are checked",
    load: () => import("./audit/key.ts").then(({ auditKey }) => auditKey),
  },
  {
    name: "audit archive",
    summary: "write the journal of old sessions into files",
    load: () => import("./audit/archive.ts").then(({ auditArchive }) => auditArchive),
  },
  {
    name: "audit log",
    summary: "print the journal, oldest record first",
    load: () => import("./audit/log.ts").then(({ auditLog }) => auditLog),
  },
  {
    name: "deliveries",
    summary: "list messages to channels that could not be delivered, and why",
    load: () => import("./channels/deliveries.ts").then(({ deliveries }) => deliveries),
  },
  {
    name: "deliveries retry",
    summary: "send undelivered messages again",
    load: () => import("./channels/deliveries.ts").then(({ deliveriesRetry }) => deliveriesRetry),
  },
  {
    name: "deliveries told",
    summary: "show who was notified about a confirmation, and on which channel",
    load: () => import("./channels/deliveries.ts").then(({ deliveriesTold }) => deliveriesTold),
  },
  {
    name: "siem list",
    summary: "list journal records that an export's address refused",
    load: () => import("./channels/siem.ts").then(({ siemList }) => siemList),
  },
  {
    name: "siem retry",
    summary: "send refused journal records to their export's address again",
    load: () => import("./channels/siem.ts").then(({ siemRetry }) => siemRetry),
  },
  {
    name: "siem drop",
    summary: "forget refused journal records; they stay missing at the address",
    load: () => import("./channels/siem.ts").then(({ siemDrop }) => siemDrop),
  },
  {
    name: "channels test",
    summary: "send a harmless message through every channel, and say what is wrong",
    load: () => import("./channels/send-test.ts").then(({ channelsTest }) => channelsTest),
  },
  {
    name: "notices list",
    summary: "list the commits that the database has lost",
    load: () => import("./notices.ts").then(({ noticesList }) => noticesList),
  },
  {
    name: "notices acknowledge",
    summary: "hide a notice for everyone after you have checked it",
    load: () => import("./notices.ts").then(({ noticesAcknowledge }) => noticesAcknowledge),
  },
  {
    name: "tokens create",
    summary: "create an API token",
    load: () => import("./access/tokens.ts").then(({ tokensCreate }) => tokensCreate),
  },
  {
    name: "tokens list",
    summary: "list API tokens, without their secrets",
    load: () => import("./access/tokens.ts").then(({ tokensList }) => tokensList),
  },
  {
    name: "tokens revoke",
    summary: "revoke a token, and every login made with it",
    load: () => import("./access/tokens.ts").then(({ tokensRevoke }) => tokensRevoke),
  },
  {
    name: "logins list",
    summary: "list the browsers that are logged in",
    load: () => import("./access/logins.ts").then(({ loginsList }) => loginsList),
  },
  {
    name: "logins revoke",
    summary: "log one browser out, on every server of this ledger",
    load: () => import("./access/logins.ts").then(({ loginsRevoke }) => loginsRevoke),
  },
  {
    name: "validate",
    summary: "check agent manifests, without running anything",
    load: () => import("./validate.ts").then(({ validate }) => validate),
  },
  {
    name: "policy check",
    summary: "check a policy file: structure, names, types, conditions",
    load: () => import("./policy/check.ts").then(({ policyCheck }) => policyCheck),
  },
  {
    name: "policy test",
    summary: "run the tests in a policy file",
    load: () => import("./policy/check.ts").then(({ policyTest }) => policyTest),
  },
  {
    name: "policy explain",
    summary: "show which rules applied to a confirmation, and what they saw",
    load: () => import("./policy/explain.ts").then(({ policyExplain }) => policyExplain),
  },
  {
    name: "policy replay",
    summary: "judge past calls by a policy, and compare with what people decided",
    load: () => import("./policy/replay.ts").then(({ policyReplay }) => policyReplay),
  },
  {
    name: "policy schema",
    summary: "print the JSON Schema of policy files, for editors",
    load: () => import("./policy/check.ts").then(({ policyJsonSchema }) => policyJsonSchema),
  },
  {
    name: "simulate",
    summary: "try out how many approvers a policy needs",
    load: () => import("./policy/simulate.ts").then(({ simulate }) => simulate),
  },
  {
    name: "tenants create",
    summary: "create a tenant with a ledger of its own",
    load: () => import("./tenants/tenants.ts").then(({ tenantsCreate }) => tenantsCreate),
  },
  {
    name: "tenants list",
    summary: "list all tenants, with their state",
    load: () => import("./tenants/tenants.ts").then(({ tenantsList }) => tenantsList),
  },
  {
    name: "tenants limit",
    summary: "change what a tenant may use",
    load: () => import("./tenants/tenants.ts").then(({ tenantsLimit }) => tenantsLimit),
  },
  {
    name: "tenants suspend",
    summary: "stop a tenant: requests are refused, nothing starts",
    load: () => import("./tenants/tenants.ts").then(({ tenantsSuspend }) => tenantsSuspend),
  },
  {
    name: "tenants resume",
    summary: "serve a suspended tenant again",
    load: () => import("./tenants/tenants.ts").then(({ tenantsResume }) => tenantsResume),
  },
  {
    name: "tenants export",
    summary: "copy a tenant's ledger into a file",
    load: () => import("./tenants/tenants.ts").then(({ tenantsExport }) => tenantsExport),
  },
  {
    name: "tenants erase",
    summary: "delete a suspended tenant's ledger permanently",
    load: () => import("./tenants/tenants.ts").then(({ tenantsErase }) => tenantsErase),
  },
  {
    name: "migrate",
    summary: "create the ledger, or update its schema",
    load: () => import("./migrate.ts").then(({ migrate }) => migrate),
  },
  {
    name: "prune",
    summary: "erase the content of old sessions",
    load: () => import("./prune.ts").then(({ prune }) => prune),
  },
  {
    name: "retention plan",
    summary: "list what a retention file would erase now; change nothing",
    load: () => import("./retention/retention.ts").then(({ retentionPlan }) => retentionPlan),
  },
  {
    name: "retention run",
    summary: "erase the content that a retention file no longer keeps",
    load: () => import("./retention/retention.ts").then(({ retentionRun }) => retentionRun),
  },
  {
    name: "erase-person",
    summary: "erase one person everywhere; the journal still verifies",
    load: () => import("./retention/erase-person.ts").then(({ erasePersonCommand }) => erasePersonCommand),
  },
  {
    name: "hold add",
    summary: "keep content from being erased: a legal hold",
    load: () => import("./retention/hold.ts").then(({ holdAdd }) => holdAdd),
  },
  {
    name: "hold list",
    summary: "list the legal holds in force",
    load: () => import("./retention/hold.ts").then(({ holdList }) => holdList),
  },
  {
    name: "hold release",
    summary: "release a legal hold; what it kept may then be erased",
    load: () => import("./retention/hold.ts").then(({ holdRelease }) => holdRelease),
  },
  {
    name: "mark-restored",
    summary: "run this after restoring a backup, so that no call runs twice",
    load: () => import("./mark-restored.ts").then(({ markRestored }) => markRestored),
  },
  {
    name: "doctor",
    summary: "check this machine, the ledger and the configuration",
    load: () => import("./doctor.ts").then(({ doctor }) => doctor),
  },
];
