import type { Approvers } from "../engine/index.ts";
import { isMap, isScalar, type Node, type YamlSource } from "../yaml/index.ts";

/** Who may decide the confirmations of `requireApproval`, and how long they stay open. */
export interface Asking {
  readonly approvers?: Approvers;
  readonly expiresInMs?: number;
}

/** Reads `countersign: { approvers, expiresIn }`. */
export function readAsking(source: YamlSource, node: Node | undefined, what: string): Asking {
  const members = node && source.map(node, what, ["approvers", "expiresIn"]);
  if (members === undefined) return {};
  const approvers = readApprovers(source, members.get("approvers"), `${what}.approvers`);
  const expiresInMs = members.duration("expiresIn");
  return {
    ...(approvers === undefined ? {} : { approvers }),
    ...(expiresInMs === undefined ? {} : { expiresInMs }),
  };
}

function readApprovers(source: YamlSource, node: Node | undefined, what: string): Approvers | undefined {
  if (node === undefined) return undefined;
  if (isScalar(node) && node.value === "requester") return "requester";
  if (!isMap(node))
    return source.problem(node, `${what} must be requester, or a map of roles, users, notRequester`);
  return readAdmitted(source, node, what);
}

function readAdmitted(source: YamlSource, node: Node, what: string): Approvers | undefined {
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
