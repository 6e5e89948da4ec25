import { expect } from "vitest";
import { isJsonArray, isJsonObject } from "../../../../src/protocol/index.ts";

const RECORDED_ID = /^(?:adk-|e-)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIMES: ReadonlySet<string> = new Set(["timestamp", "lastUpdateTime"]);

/**
 * Which of our ids stands for which recorded one. Learned where both answers have one in the same place, and
 * from then on fixed: a second id in the place of the first is a difference.
 */
export class Identities {
  readonly #ours = new Map<string, string>();

  /** Each recorded id has one of ours, and no two share one. */
  get areDistinct(): boolean {
    return new Set(this.#ours.values()).size === this.#ours.size;
  }

  learn(recorded: unknown, ours: unknown, place = ""): void {
    if (isJsonArray(recorded) && isJsonArray(ours)) {
      for (const [index, item] of recorded.entries()) this.learn(item, ours[index]);
    } else if (isJsonObject(recorded) && isJsonObject(ours)) {
      const isEvent = "invocationId" in recorded;
      for (const [name, value] of Object.entries(recorded)) {
        this.learn(value, ours[name], isEvent && name === "id" ? "event" : "");
      }
    } else if (typeof recorded === "string" && typeof ours === "string") {
      const isId = RECORDED_ID.test(recorded) || place === "event";
      if (isId && !this.#ours.has(recorded)) this.#ours.set(recorded, ours);
    }
  }

  /** A recorded text with our ids in it. */
  inText(text: string): string {
    let told = text;
    for (const [recorded, ours] of this.#ours) told = told.replaceAll(recorded, ours);
    return told;
  }

  /** A recorded value with our ids in it, and times that may be any of these days, in seconds. */
  inValue(value: unknown): unknown {
    if (typeof value === "string") return this.#ours.get(value) ?? this.inText(value);
    if (isJsonArray(value)) return value.map((item) => this.inValue(item));
    if (!isPlain(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        this.#ours.get(name) ?? name,
        TIMES.has(name) ? expect.toSatisfy(isTimeInSeconds, "a time in seconds") : this.inValue(member),
      ]),
    );
  }
}

// Expectations (`expect.any` and the like) are objects too, and must come through as they are.
function isPlain(value: unknown): value is { readonly [name: string]: unknown } {
  return isJsonObject(value) && Object.getPrototypeOf(value) === Object.prototype;
}

function isTimeInSeconds(value: unknown): boolean {
  return typeof value === "number" && value > 1.7e9 && value < 1e10;
}
