import type { Confirmation } from "../../../api/types.ts";

/** Who may decide it, in words. */
export function whoMay({ requirements, requesters }: Confirmation): string {
  return requirements
    .map(({ from, count, approved }) => {
      const progress = count === 1 && requirements.length === 1 ? "" : ` (${approved} of ${count} approvals)`;
      return `${whoIn(from, requesters)}${progress}`;
    })
    .join("; and ");
}

function whoIn(
  approvers: Confirmation["requirements"][number]["from"],
  requesters: readonly string[],
): string {
  if (approvers === "requester") return `the requester (${requesters.join(", ")})`;
  const { roles = [], users = [], notRequester = false } = approvers;
  const named = [...users, ...roles.map((role) => `anyone with the role ${role}`)];
  const who = named.length === 0 ? "any logged-in user" : named.join(", ");
  return notRequester ? `${who}, but not the requester (${requesters.join(", ")})` : who;
}
