const LARGEST = 2n ** 63n - 1n;
const SMALLEST = -(2n ** 63n);

type Decimals = (a: number, b: number) => number;
type Integers = (a: bigint, b: bigint) => bigint;

/** An operator on two integers, or on two decimal numbers; never on one of each, as in CEL. */
function arithmetic(
  name: string,
  integers: Integers,
  decimals?: Decimals,
): (a: unknown, b: unknown) => unknown {
  return (a, b) => {
    if (typeof a === "number" && typeof b === "number" && decimals !== undefined)
      return finite(decimals(a, b));
    if (typeof a === "bigint" && typeof b === "bigint") return fitting(integers(a, b));
    throw new TypeError(
      `${name} needs two integers${decimals === undefined ? "" : " or two decimal numbers"}`,
    );
  };
}

const sum = arithmetic(
  "+",
  (a, b) => a + b,
  (a, b) => a + b,
);

/** What the arithmetic operators do. */
export const ARITHMETIC: { readonly [operator: string]: (a: unknown, b: unknown) => unknown } = {
  "+": (a, b) => {
    if (typeof a === "string" && typeof b === "string") return a + b;
    if (Array.isArray(a) && Array.isArray(b)) return [...(a as unknown[]), ...(b as unknown[])];
    return sum(a, b);
  },
  "-": arithmetic(
    "-",
    (a, b) => a - b,
    (a, b) => a - b,
  ),
  "*": arithmetic(
    "*",
    (a, b) => a * b,
    (a, b) => a * b,
  ),
  "/": arithmetic(
    "/",
    (a, b) => a / divisor(b),
    (a, b) => a / b,
  ),
  "%": arithmetic("%", (a, b) => a % divisor(b)),
};

export function negative(value: unknown): unknown {
  if (typeof value === "bigint") return fitting(-value);
  if (typeof value === "number") return -value;
  throw new TypeError("- needs a number");
}

function divisor(value: bigint): bigint {
  if (value === 0n) throw new TypeError("division by zero");
  return value;
}

function fitting(value: bigint): bigint {
  if (value <= LARGEST && value >= SMALLEST) return value;
  throw new TypeError("the integer is too large");
}

// A result that is not a number would be neither more nor less than any limit.
function finite(value: number): number {
  if (Number.isFinite(value)) return value;
  throw new TypeError("the result is not a finite number");
}
