import dns, { type LookupAddress } from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import { afterEach, expect, test, vi } from "vitest";
import { createDevice } from "../../../test/support/push/device.ts";
import { useResources } from "../../../test/support/resources.ts";
import { createLedger } from "../../stores/index.ts";
import { buildNotice } from "../channel.contract.ts";
import { createPushChannel } from "./push-channel.ts";

const resources = useResources();
const PUBLIC: LookupAddress = { address: "8.8.8.8", family: 4 };
const HERE: LookupAddress = { address: "127.0.0.1", family: 4 };

/** Every name leads there from now on. */
function leadTo(addresses: readonly LookupAddress[]): void {
  vi.spyOn(dns, "lookup").mockImplementation(((
    _name: string,
    { all }: { readonly all?: boolean },
    found: (error: null, address: unknown, family?: number) => void,
  ) => {
    const [{ address, family } = HERE] = addresses;
    if (all === true) found(null, addresses);
    else found(null, address, family);
  }) as typeof dns.lookup);
  syncBuiltinESMExports();
}

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

test.each([
  ["this machine", [HERE]],
  ["this machine, too", [PUBLIC, HERE]],
  ["this machine, written as IPv6", [{ address: "::ffff:127.0.0.1", family: 6 }]],
  ["the cloud's own service", [{ address: "169.254.169.254", family: 4 }]],
] as const)("a device whose name leads to %s by now is not called", async (_where, addresses) => {
  const ledger = await createLedger("memory:");
  resources.add(() => ledger.close());
  const channel = createPushChannel({ ledger, contact: "mailto:ops@example.com" });
  const { subscription } = createDevice("https://push.example/device");
  const request = {
    method: "PUT",
    headers: new Headers(),
    body: Buffer.from(JSON.stringify(subscription)),
  };
  const ana = { id: "ana", kind: "oidc", roles: [], scopes: ["decide"], authenticated: true } as const;
  expect(await channel.routes?.["subscriptions"]?.(request, ana)).toEqual({ status: 204 });
  leadTo(addresses);
  expect(await channel.tell(buildNotice(), new AbortController().signal)).toMatchObject({
    ok: false,
    reason: "https://push.example could not be reached (ENOTPUBLIC).",
  });
});
