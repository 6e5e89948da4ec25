import type { Inbound } from "../../../src/channels/index.ts";
import type { Resources } from "../resources.ts";

/** Opens the entries of another server, on the scene's ledger or on another one. */
type OpenDoor = (ledger?: string) => Promise<Inbound>;
type Send = (request: Request) => Promise<Response>;

/** Two other servers, each opened when something is first sent there. */
export function otherDoors(
  resources: Resources,
  open: OpenDoor,
): { readonly elsewhere: Send; readonly otherTenant: Send } {
  return {
    elsewhere: lazily(() => open()),
    otherTenant: lazily(async () => open(`sqlite:${await resources.folder()}/ledger.db`)),
  };
}

function lazily(start: () => Promise<Inbound>): Send {
  let door: Promise<Inbound> | undefined;
  return async (request) => {
    door ??= start();
    return (await door).fetch(request);
  };
}
