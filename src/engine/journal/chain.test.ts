import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CHAIN_START, chainHasher, checkpointHash, foldRoot, rowHash } from "./chain.ts";

const plain = chainHasher(undefined);
const row = { session: "s", n: 1, at: 2, kinds: ["k"], digest: "d" };

describe("the hash of a line of the log", () => {
  test("is pinned: what is written today still verifies tomorrow", () => {
    expect(rowHash(plain, CHAIN_START, row, 0)).toBe("0-Ulw5F_dK_EiLZZ2viCvCqbyt4ZNfpoWljbEx9Zq9_vA");
    expect(rowHash(chainHasher("secret"), CHAIN_START, row, 0)).toBe(
      "0-iD1RobytULbzwRYRKx9OVzwiM1-1k9LmCfuEftBlfT4",
    );
  });

  test("changes with every member, with what came before, and with the secret", () => {
    const hashes = [
      rowHash(plain, CHAIN_START, row, 0),
      rowHash(plain, "before", row, 0),
      rowHash(plain, CHAIN_START, { ...row, session: "t" }, 0),
      rowHash(plain, CHAIN_START, { ...row, n: 2 }, 0),
      rowHash(plain, CHAIN_START, { ...row, at: 3 }, 0),
      rowHash(plain, CHAIN_START, { ...row, kinds: ["l"] }, 0),
      rowHash(plain, CHAIN_START, { ...row, digest: "e" }, 0),
      rowHash(chainHasher("a"), CHAIN_START, row, 0),
      rowHash(chainHasher("b"), CHAIN_START, row, 0),
      rowHash(plain, CHAIN_START, row, 1),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  test("does not let text move from one member into the next", () => {
    const arbitrary = fc.record({
      previous: fc.string(),
      session: fc.string(),
      kinds: fc.array(fc.string()),
      digest: fc.string(),
    });
    fc.assert(
      fc.property(arbitrary, arbitrary, ({ previous: p, ...a }, { previous: q, ...b }) => {
        const same = JSON.stringify([p, a]) === JSON.stringify([q, b]);
        const hashed = (text: string, rest: typeof a): string => rowHash(plain, text, { ...row, ...rest }, 0);
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

  test("has a root that depends on order, number and content of its lines", () => {
    const rows = [1, 2, 3].map((seq) => ({ seq, session: "s", n: seq, hash: `h${seq}` }));
    const rootOf = (list: typeof rows): string =>
      list.reduce((root, line) => foldRoot(plain, root, line), "");
    const [a, b, c] = rows;
    if (a === undefined || b === undefined || c === undefined) throw new Error("Three rows.");
    const roots = [
      rootOf([a, b, c]),
      rootOf([a, c, b]),
      rootOf([a, b]),
      rootOf([a, b, { ...c, hash: "x" }]),
      rootOf([a, b, { ...c, session: "x" }]),
      rootOf([a, b, { ...c, seq: 4 }]),
    ];
    expect(new Set(roots).size).toBe(roots.length);
  });
});
