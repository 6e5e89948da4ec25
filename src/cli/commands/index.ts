import type { Command } from "../command.ts";
import { delegationsAdd, delegationsList, delegationsRevoke } from "./access/delegations.ts";
import { loginsList, loginsRevoke } from "./access/logins.ts";
import { tokensCreate, tokensList, tokensRevoke } from "./access/tokens.ts";
import { approve } from "./approve.ts";
import { auditHead } from "./audit/head.ts";
import { auditLog } from "./audit/log.ts";
import { auditVerify } from "./audit/verify.ts";
import { cancel } from "./cancel.ts";
import { channelsTest } from "./channels.ts";
import { deliveries, deliveriesRetry, deliveriesTold } from "./deliveries.ts";
import { demo } from "./demo.ts";
import { deny } from "./deny.ts";
import { doctor } from "./doctor.ts";
import { grantsList, grantsRevoke } from "./grants.ts";
import { markRestored } from "./mark-restored.ts";
import { mcp } from "./mcp.ts";
import { migrate } from "./migrate.ts";
import { noticesAcknowledge, noticesList } from "./notices.ts";
import { pending } from "./pending.ts";
import { policyCheck, policyJsonSchema, policyTest } from "./policy/check.ts";
import { policyExplain } from "./policy/explain.ts";
import { policyReplay } from "./policy/replay.ts";
import { simulate } from "./policy/simulate.ts";
import { prune } from "./prune.ts";
import { exec } from "./remote/exec.ts";
import { hook } from "./remote/hook.ts";
import { permissionPrompt } from "./remote/permission-prompt.ts";
import { erasePersonCommand } from "./retention/erase-person.ts";
import { holdAdd, holdList, holdRelease } from "./retention/hold.ts";
import { retentionPlan, retentionRun } from "./retention/retention.ts";
import { run } from "./run.ts";
import { serve } from "./serve.ts";
import { settle } from "./settle.ts";
import { show } from "./show.ts";
import { stats } from "./stats.ts";
import {
  tenantsCreate,
  tenantsErase,
  tenantsExport,
  tenantsLimit,
  tenantsList,
  tenantsResume,
  tenantsSuspend,
} from "./tenants/tenants.ts";
import { validate } from "./validate.ts";
import { withdrawVote } from "./withdraw-vote.ts";

/** Every command, in the order in which the help lists them. */
export const COMMANDS: readonly Command[] = [
  demo,
  serve,
  run,
  mcp,
  hook,
  permissionPrompt,
  exec,
  pending,
  show,
  approve,
  deny,
  withdrawVote,
  cancel,
  settle,
  grantsList,
  grantsRevoke,
  stats,
  delegationsAdd,
  delegationsList,
  delegationsRevoke,
  auditVerify,
  auditHead,
  auditLog,
  deliveries,
  deliveriesRetry,
  deliveriesTold,
  channelsTest,
  noticesList,
  noticesAcknowledge,
  tokensCreate,
  tokensList,
  tokensRevoke,
  loginsList,
  loginsRevoke,
  validate,
  policyCheck,
  policyTest,
  policyExplain,
  policyReplay,
  policyJsonSchema,
  simulate,
  tenantsCreate,
  tenantsList,
  tenantsLimit,
  tenantsSuspend,
  tenantsResume,
  tenantsExport,
  tenantsErase,
  migrate,
  prune,
  retentionPlan,
  retentionRun,
  erasePersonCommand,
  holdAdd,
  holdList,
  holdRelease,
  markRestored,
  doctor,
];
