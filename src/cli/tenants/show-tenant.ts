import type { TenantRecord } from "../../http/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import { absoluteTime } from "../duration.ts";
import { inert, type Output } from "../output.ts";

/** What a state that is on the way asks for. */
const UNFINISHED: Readonly<Record<string, string>> = {
  creating: "create",
  suspending: "suspend",
  resuming: "resume",
  erasing: "erase",
};

export function describeTenant(output: Output, tenant: TenantRecord): string {
  const { name, ledger, state, since, limits } = tenant;
  const again = UNFINISHED[state];
  const limited = Object.entries(limits).map(([limit, value]) => `${limit} ${value}`);
  const facts = [
    `since ${absoluteTime(since)}`,
    inert(ledger),
    ...limited,
    ...(again === undefined ? [] : [`run \`tenants ${again}\` again to finish`]),
  ];
  return `${output.style("bold", inert(name))}  ${output.style("yellow", state)}  ${facts.join(", ")}`;
}

export function tenantJson({ since, ...tenant }: TenantRecord): JsonObject {
  return { ...tenant, limits: { ...tenant.limits }, since: new Date(since).toISOString() };
}
