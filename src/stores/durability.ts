import { CountersignError } from "../protocol/index.ts";

/** Is every commit on disk before it is acknowledged? Throws `invalid-option` for what is no durability. */
export function isAlwaysSynced(durability: "full" | undefined): boolean {
  if (durability === undefined || durability === "full") return durability === "full";
  throw new CountersignError(
    "invalid-option",
    `Invalid durability ${JSON.stringify(durability)}. Omit it or use "full".`,
    { details: { option: "durability" } },
  );
}
