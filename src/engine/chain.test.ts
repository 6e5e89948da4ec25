import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CHAIN_START, chainHasher, checkpointHash, foldRoot, recordHash } from "./chain.ts";

const plain = chainHasher(undefined);
const record = { stream: "s", n: 1, at: 2, kind: "k", bodyDigest: "d" };

describe("a record's hash", () => {
  test("is pinned: what was written by an older version still verifies", () => {
    expect(recordHash(plain, CHAIN_START, record)).toBe("j7Lz0_JCIQyXApbkIatoQ1n6_n4vus-5nJjocq-BMIw");
    expect(recordHash(chainHasher("secret"), CHAIN_START, record)).toBe(
      "W3BpNvz3YgZNz0Jbfvra9EY2xfYsg5M8C-9lsaCgigw",
    );
  });

  test("changes with every member, with what came before, and with the secret", () => {
    const hashes = [
      recordHash(plain, CHAIN_START, record),
      recordHash(plain, "before", record),
      recordHash(plain, CHAIN_START, { ...record, stream: "t" }),
      recordHash(plain, CHAIN_START, { ...record, n: 2 }),
      recordHash(plain, CHAIN_START, { ...record, at: 3 }),
      recordHash(plain, CHAIN_START, { ...record, kind: "l" }),
      recordHash(plain, CHAIN_START, { ...record, bodyDigest: "e" }),
      recordHash(chainHasher("a"), CHAIN_START, record),
      recordHash(chainHasher("b"), CHAIN_START, record),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  test("does not let text move from one member into the next", () => {
    const arbitrary = fc.record({
      previous: fc.string(),
      stream: fc.string(),
      kind: fc.string(),
      bodyDigest: fc.string(),
    });
    fc.assert(
      fc.property(arbitrary, arbitrary, ({ previous: p, ...a }, { previous: q, ...b }) => {
        const same = JSON.stringify([p, a]) === JSON.stringify([q, b]);
        const hashed = (text: string, rest: typeof a): string =>
          recordHash(plain, text, { ...record, ...rest });
        return (hashed(p, a) === hashed(q, b)) === same;
      }),
    );
  });
});

describe("a checkpoint", () => {
  const checkpoint = { k: 1, lastSeq: 2, count: 3, root: "r", at: 4 };

  test("is pinned, and its hash changes with every member", () => {
    expect(checkpointHash(plain, CHAIN_START, checkpoint)).toBe(
      "betM2atD6Jz4ebzvjGj2ejdX3gzF_EN2lmX_HIJ7aEM",
    );
    const hashes = [
      checkpointHash(plain, CHAIN_START, checkpoint),
      checkpointHash(plain, "before", checkpoint),
      ...(["k", "lastSeq", "count", "at"] as const).map((member) =>
        checkpointHash(plain, CHAIN_START, { ...checkpoint, [member]: 9 }),
      ),
      checkpointHash(plain, CHAIN_START, { ...checkpoint, root: "s" }),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  test("has a root that depends on order, number and content of its records", () => {
    const rows = [1, 2, 3].map((seq) => ({ seq, stream: "s", n: seq, hash: `h${seq}` }));
    const rootOf = (list: typeof rows): string => list.reduce((root, row) => foldRoot(plain, root, row), "");
    const [a, b, c] = rows;
    if (a === undefined || b === undefined || c === undefined) throw new Error("Three rows.");
    const roots = [
      rootOf([a, b, c]),
      rootOf([a, c, b]),
      rootOf([a, b]),
      rootOf([a, b, { ...c, hash: "x" }]),
      rootOf([a, b, { ...c, stream: "x" }]),
      rootOf([a, b, { ...c, seq: 4 }]),
    ];
    expect(new Set(roots).size).toBe(roots.length);
  });
});
