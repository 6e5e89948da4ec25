import { expect, test } from "vitest";
import { createIds } from "./ids.ts";

const NOW = Date.UTC(2026, 0, 1);
const many = (count: number, now = NOW): readonly string[] => {
  const newId = createIds();
  return Array.from({ length: count }, () => newId(now));
};

test("an id is 26 characters of an alphabet without look-alikes", () => {
  for (const id of many(1000)) expect(id).toMatch(/^[0-9a-hjkmnp-tv-z]{26}$/);
});

test("ids of later milliseconds sort after all earlier ones", () => {
  const newId = createIds();
  const times = [0, 1, 31, 32, 1023, 1024, NOW, NOW + 1, NOW + 31, NOW + 32, NOW + 86_400_000, 2 ** 48 - 1];
  const ids = times.flatMap((now) => Array.from({ length: 50 }, () => newId(now)));
  const prefixes = ids.map((id) => id.slice(0, 10));
  expect(prefixes).toEqual(prefixes.toSorted());
  expect(new Set(prefixes).size).toBe(times.length);
});

test("the time can be read back, and nothing else of the id depends on it", () => {
  const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
  const [id = ""] = many(1);
  const read = Array.from(id.slice(0, 10)).reduce(
    (sum, character) => sum * 32 + alphabet.indexOf(character),
    0,
  );
  expect(read).toBe(NOW);
  expect(new Set(many(2).map((each) => each.slice(10))).size).toBe(2);
});

test("a clock that stands still, or goes back, gives no id twice", () => {
  const newId = createIds();
  const ids = Array.from({ length: 50_000 }, (_, index) => newId(NOW - (index % 3)));
  expect(new Set(ids).size).toBe(ids.length);
});

test("two sources share nothing", () => {
  expect(new Set([...many(1000), ...many(1000)]).size).toBe(2000);
});

test("every one of the 80 random bits is set half of the time, and no character is favoured", () => {
  const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
  const count = 20_000;
  const bits = Array.from({ length: 80 }, () => 0);
  const characters = new Map<string, number>();
  for (const id of many(count)) {
    for (const [place, character] of Array.from(id.slice(10)).entries()) {
      characters.set(character, (characters.get(character) ?? 0) + 1);
      const value = alphabet.indexOf(character);
      for (let bit = 0; bit < 5; bit++) bits[place * 5 + bit]! += (value >> bit) & 1;
    }
  }
  // Six standard deviations: seen by chance once in five hundred million bits.
  const slack = 6 * Math.sqrt(count / 4);
  for (const set of bits) expect(Math.abs(set - count / 2)).toBeLessThan(slack);
  const expected = (count * 16) / 32;
  expect(characters.size).toBe(32);
  for (const seen of characters.values())
    expect(Math.abs(seen - expected)).toBeLessThan(6 * Math.sqrt(expected));
});
