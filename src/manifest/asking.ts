import { isMap, isScalar, type Node } from "yaml";
import type { Approvers } from "../engine/index.ts";
import type { ManifestSource } from "./source.ts";

/** Who may decide the confirmations of `requireApproval`, and how long they stay open. */
export interface Asking {
  readonly approvers?: Approvers;
  readonly expiresInMs?: number;
}

const UNITS_MS: { readonly [unit: string]: number } = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Reads `countersign: { approvers, expiresIn }`. */
export function readAsking(source: ManifestSource, node: Node | undefined, what: string): Asking {
  const members = node && source.map(node, what, ["approvers", "expiresIn"]);
  if (members === undefined) return {};
  const approvers = readApprovers(source, members.get("approvers"), `${what}.approvers`);
  const expiresInMs = readDuration(source, members.get("expiresIn"), `${what}.expiresIn`);
  return {
    ...(approvers === undefined ? {} : { approvers }),
    ...(expiresInMs === undefined ? {} : { expiresInMs }),
  };
}

function readApprovers(source: ManifestSource, node: Node | undefined, what: string): Approvers | undefined {
  if (node === undefined) return undefined;
  if (isScalar(node) && node.value === "requester") return "requester";
  if (!isMap(node))
    return source.problem(node, `${what} must be requester, or a map of roles, users, notRequester`);
  return readAdmitted(source, node, what);
}

function readAdmitted(source: ManifestSource, node: Node, what: string): Approvers | undefined {
  const members = source.map(node, what, ["roles", "users", "notRequester"]);
  const { length: known } = source.problems;
  const roles = members?.texts("roles") ?? [];
  const users = members?.texts("users") ?? [];
  const notRequester = members?.flag("notRequester") === true;
  if (source.problems.length > known) return undefined;
  // Nobody could decide, and every call would wait forever.
  if (roles.length + users.length === 0 && !notRequester)
    return source.problem(node, `${what} names nobody; set roles, users, or notRequester: true`);
  return {
    ...(roles.length === 0 ? {} : { roles }),
    ...(users.length === 0 ? {} : { users }),
    ...(notRequester ? { notRequester } : {}),
  };
}

function readDuration(source: ManifestSource, node: Node | undefined, what: string): number | undefined {
  const text = node && source.text(node, what);
  if (node === undefined || text === undefined) return undefined;
  const [, count, unit = ""] = /^([1-9]\d{0,5})([smhdw])$/.exec(text) ?? [];
  const unitMs = UNITS_MS[unit];
  if (count !== undefined && unitMs !== undefined) return Number(count) * unitMs;
  return source.problem(node, `${what} is "${text}"; use a number and a unit, for example 90s, 12h or 30d`);
}
