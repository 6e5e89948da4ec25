/** Throws unless the values are equal in depth: same members, none missing, none `undefined` for absent. */
export function checkEqual(actual: unknown, expected: unknown, what: string): void {
  if (!isEqual(actual, expected))
    throw new Error(`${what}: expected ${show(expected)}, found ${show(actual)}`);
}

/** Throws unless the promise is rejected with this code. */
export async function checkRejected(promise: Promise<unknown>, code: string, what: string): Promise<void> {
  const found = await promise.then(
    () => "no error",
    (error: unknown) => (typeof error === "object" && error !== null && "code" in error ? error.code : error),
  );
  checkEqual(found, code, what);
}

function isEqual(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  // Own keys only: a member called `__proto__` counts like any other.
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && isEqual(own(a, key), own(b, key)));
}

function own(value: object, key: string): unknown {
  return Object.getOwnPropertyDescriptor(value, key)?.value;
}

function show(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}
