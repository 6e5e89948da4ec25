import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** A certificate with its key, both as PEM. */
export interface Certificate {
  readonly pem: string;
  readonly key: string;
}

/** An authority that certifies hosts. */
export interface Authority {
  readonly pem: string;
  /** A certificate for a server of this name. */
  certify(host: string): Certificate;
}

const TAG = {
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  id: 0x06,
  text: 0x0c,
  time: 0x18,
  sequence: 0x30,
  set: 0x31,
  name: 0x82,
  version: 0xa0,
  extensions: 0xa3,
} as const;

const TRUE = Buffer.from([0x01, 0x01, 0xff]);
// https://www.rfc-editor.org/rfc/rfc5280 names them; written as their encoding.
const ECDSA_WITH_SHA256 = der("sequence", der("id", Buffer.from("2a8648ce3d040302", "hex")));
const COMMON_NAME = der("id", Buffer.from("550403", "hex"));
const BASIC_CONSTRAINTS = der("id", Buffer.from("551d13", "hex"));
const ALTERNATIVE_NAME = der("id", Buffer.from("551d11", "hex"));

/** Makes an authority of its own, trusted by nobody yet. */
export function createAuthority(name: string): Authority {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const isAuthority = der("sequence", BASIC_CONSTRAINTS, TRUE, der("octets", der("sequence", TRUE)));
  const issue = (subject: string, subjectKey: KeyObject, extension: Buffer): string => {
    const body = der(
      "sequence",
      der("version", der("integer", Buffer.from([2]))),
      der("integer", Buffer.concat([Buffer.from([1]), randomBytes(8)])),
      ECDSA_WITH_SHA256,
      named(name),
      der("sequence", der("time", "20200101000000Z"), der("time", "21200101000000Z")),
      named(subject),
      subjectKey.export({ type: "spki", format: "der" }),
      der("extensions", der("sequence", extension)),
    );
    const signature = Buffer.concat([Buffer.from([0]), sign("sha256", body, privateKey)]);
    return toPem(der("sequence", body, ECDSA_WITH_SHA256, der("bits", signature)));
  };
  return {
    pem: issue(name, publicKey, isAuthority),
    certify: (host) => {
      const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const isFor = der("sequence", ALTERNATIVE_NAME, der("octets", der("sequence", der("name", host))));
      const key = pair.privateKey.export({ type: "pkcs8", format: "pem" });
      return { pem: issue(host, pair.publicKey, isFor), key: String(key) };
    },
  };
}

function named(name: string): Buffer {
  return der("sequence", der("set", der("sequence", COMMON_NAME, der("text", name))));
}

function der(tag: keyof typeof TAG, ...parts: readonly (Buffer | string)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
  const { length } = body;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([TAG[tag], ...size]), body]);
}

function toPem(certificate: Buffer): string {
  const lines = certificate.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
