import { lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

/** Every address that is not somewhere on the public internet: RFC 6890 and its successors. */
const NOT_PUBLIC_V4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
];
/** The public part of IPv6; ranges in it that lead elsewhere or embed IPv4 addresses are excluded below. */
const PUBLIC_V6: readonly [string, number] = ["2000::", 3];
const NOT_PUBLIC_V6: readonly (readonly [string, number])[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

const v4 = new BlockList();
for (const [net, prefix] of NOT_PUBLIC_V4) v4.addSubnet(net, prefix, "ipv4");
const v6 = new BlockList();
for (const [net, prefix] of NOT_PUBLIC_V6) v6.addSubnet(net, prefix, "ipv6");
const allV6 = new BlockList();
allV6.addSubnet(...PUBLIC_V6, "ipv6");

/** Is this the address of a machine on the public internet? */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !v4.check(address, "ipv4");
    case 6:
      return allV6.check(address, "ipv6") && !v6.check(address, "ipv6");
    default:
      return false;
  }
}

/** May a server call this address, which a stranger gave? Where its name leads is checked when it is called. */
export function isPublicUrl(url: URL): boolean {
  const { protocol, port, username, password, hostname } = url;
  const isName = isIP(hostname) === 0 && !hostname.startsWith("[") && hostname.includes(".");
  return protocol === "https:" && port === "" && username === "" && password === "" && isName;
}

/**
 * Finds the address of a name, if it is public. The connection is made to the very address that was checked, so a name
 * that changes its address in between leads nowhere.
 */
export const lookupPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, "");
    const [first] = addresses;
    if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address)))
      return callback(Object.assign(new Error("not a public address"), { code: "ENOTPUBLIC" }), "");
    return options.all === true ? callback(null, addresses) : callback(null, first.address, first.family);
  });
};
