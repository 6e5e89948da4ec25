import type { JsonObject, JsonValue, Model } from "../../../src/index.ts";
import { scripted } from "../../../src/models/scripted/index.ts";

/** A scripted model that understands four sentences and repeats its tools' results. */
export const script: Model = scripted(({ contents }) => {
  const parts = contents.at(-1)?.parts ?? [];
  const results = parts.flatMap(({ functionResponse }) => functionResponse ?? []);
  if (results.length > 0) return results.map(({ name, response }) => tell(name, response)).join("; ");
  const text = parts.map((part) => part.text ?? "").join("");
  if (text === "fail") throw new Error("scripted model failure");
  const calls = text.split(" and ").map(toCall);
  if (calls.every((call) => call !== undefined)) return calls.map((functionCall) => ({ functionCall }));
  return `You said: ${text}`;
});

interface Call {
  readonly name: string;
  readonly args: JsonObject;
}

const SENTENCES: readonly (readonly [RegExp, (one: string, two?: string) => Call])[] = [
  [
    /^reimburse (\d+(?:\.\d+)?)(?: for (.+))?$/,
    (amount, purpose = "unspecified") => ({ name: "reimburse", args: { purpose, amount: Number(amount) } }),
  ],
  [/^time off (\d+)$/, (days) => ({ name: "request_time_off", args: { days: Number(days) } })],
  [/^sabbatical (\d+)$/, (days) => ({ name: "request_sabbatical", args: { days: Number(days) } })],
  [/^greet (.+)$/, (name) => ({ name: "greet", args: { name } })],
];

function toCall(sentence: string): Call | undefined {
  for (const [pattern, make] of SENTENCES) {
    const [, one, two] = pattern.exec(sentence) ?? [];
    if (one !== undefined) return make(one, two);
  }
  return undefined;
}

function tell(name: string, response: JsonObject): string {
  const members = Object.entries(response).map(([key, value]) => `${key}=${toText(value)}`);
  return `Tool ${name} answered: ${members.join(", ")}`;
}

function toText(value: JsonValue): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
