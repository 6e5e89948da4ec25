import fc from "fast-check";

/** Where in a JSON value something is put, or what is taken away. */
interface Mutation {
  readonly path: number;
  readonly value: unknown;
  readonly drop: boolean;
}

type Json = { readonly [name: string]: unknown };

function pathsOf(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, inner]) => pathsOf(inner, [...path, name]))];
}

function mutated(payload: Json, { path, value, drop }: Mutation): Json {
  const paths = pathsOf(payload).filter(({ length }) => length > 0);
  const chosen = paths[path % paths.length] ?? [];
  const copy = structuredClone(payload) as Record<string, unknown>;
  let place: Record<string, unknown> = copy;
  for (const name of chosen.slice(0, -1)) place = place[name] as Record<string, unknown>;
  const last = chosen.at(-1) ?? "";
  if (drop) delete place[last];
  else place[last] = value;
  return copy;
}

/** One of these values, with one to three odd things in it. */
export function mutationsOf(
  bases: readonly Json[],
  words: readonly [string, ...string[]],
): fc.Arbitrary<Json> {
  const odd = fc.oneof(fc.jsonValue(), fc.string({ unit: "binary" }), fc.constantFrom(...words));
  const mutation = fc.record({ path: fc.nat(), value: odd, drop: fc.boolean() });
  return fc
    .tuple(fc.constantFrom(...bases), fc.array(mutation, { minLength: 1, maxLength: 3 }))
    .map(([base, mutations]) => mutations.reduce(mutated, base));
}
