import { expect, test } from "vitest";
import { ERROR_CODES } from "../../src/protocol/error-code.ts";
import { readSources } from "./repository.ts";

/** Tables that map every code, and so show nothing about its use. */
const TABLES: ReadonlySet<string> = new Set([
  "src/protocol/error-code.ts",
  "src/http/error-statuses.ts",
  "src/cli/exit-codes.ts",
  "src/a2a/messages/errors.ts",
  "src/mcp/rpc/error-kinds.ts",
]);

// Clients switch on these. A new one is added here and to every surface's table; none is renamed or reused.
const PINNED = [
  "already-decided",
  "ambiguous",
  "arguments-altered",
  "arguments-mismatch",
  "call-executing",
  "claim-lost",
  "closed",
  "definition-changed",
  "expired",
  "forbidden",
  "foreign-host",
  "foreign-origin",
  "forged-result",
  "grant-refused",
  "internal",
  "invalid-cursor",
  "invalid-option",
  "key-reused",
  "ledger-busy",
  "ledger-mismatch",
  "ledger-newer",
  "ledger-older",
  "ledger-unreachable",
  "malformed-call",
  "malformed-decision",
  "malformed-json",
  "malformed-request",
  "method-not-allowed",
  "missing-package",
  "model-calls-exhausted",
  "model-failed",
  "not-an-approver",
  "not-cancellable",
  "not-claimable",
  "not-settleable",
  "over-quota",
  "payload-mismatch",
  "policy-denied",
  "rate-limited",
  "replay-diverged",
  "reserved-name",
  "session-busy",
  "session-deleted",
  "session-exists",
  "session-full",
  "signature-invalid",
  "stale-version",
  "step-lost",
  "suspended",
  "timed-out",
  "too-large",
  "too-many-open",
  "too-slow",
  "tool-gone",
  "unauthenticated",
  "under-hold",
  "unknown-app",
  "unknown-call",
  "unknown-confirmation",
  "unknown-delegation",
  "unknown-delivery",
  "unknown-grant",
  "unknown-hold",
  "unknown-model",
  "unknown-notice",
  "unknown-route",
  "unknown-session",
  "unknown-tenant",
  "unknown-tool",
  "unsupported-media-type",
  "withdrawn",
  "wrong-invocation",
];

test("the error codes are the pinned ones", () => {
  expect(Object.keys(ERROR_CODES).toSorted()).toEqual(PINNED);
});

test("every code is kebab-case and says what it means in a sentence", () => {
  for (const [code, meaning] of Object.entries(ERROR_CODES)) {
    expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(meaning, code).toMatch(/^[A-Z`].*\.$/);
  }
});

test("every code is the reason of some refusal", () => {
  const sources = readSources().filter(
    ({ path }) => !TABLES.has(path) && !/\.(test|contract)\.ts$/.test(path),
  );
  const text = sources.map((source) => source.text).join("\n");
  expect(Object.keys(ERROR_CODES).filter((code) => !text.includes(`"${code}"`))).toEqual([]);
});
