import {
  type IdempotentRequest,
  KEY_KNOWN_MS,
  recallResponse,
  type SessionName,
  useKey,
  valueDigest,
} from "../../engine/index.ts";
import {
  CountersignError,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  member,
} from "../../protocol/index.ts";
import type { RunContext } from "../run-context.ts";
import { type AnswersInput, type AnswersOutcome, findTargets, type Target, takeAnswers } from "./answers.ts";

const KIND = "answers-outcome";

/**
 * Takes the answers of a message with a key. The questions that they are about are bound to the key before the first is
 * decided, and the results are stored. The same request again gets these results and decides nothing. Only after a
 * crash in between does it complete the first request, for exactly the questions that were found then, and without those
 * that it had decided.
 */
export async function takeAnswersOnce(
  run: RunContext,
  input: AnswersInput & { readonly name: SessionName },
  once: IdempotentRequest,
): Promise<AnswersOutcome> {
  const { engine } = run;
  const known = await recallResponse(engine.ledger, once);
  const bound =
    known ??
    (await useKey(run.parts, input.name, { once, meaning: toMeaning(await findTargets(run, input)) }));
  if (!bound.ok) throw new CountersignError(bound.code, bound.message);
  const id = valueDigest(engine.ledger.digestKey, { ...once });
  const kept = await engine.ledger.items.get(KIND, id);
  if (kept !== undefined) return toOutcome(kept.value);
  const key = { id, expiresAt: run.now() + KEY_KNOWN_MS };
  const outcome = await takeAnswers(run, { ...input, key }, targetsIn(bound.response));
  const value = JSON.parse(JSON.stringify(outcome)) as JsonObject;
  await engine.ledger.items.put({ kind: KIND, ...key, value }, 0);
  return outcome;
}

function toMeaning(targets: readonly Target[]): JsonValue {
  return {
    targets: targets.map((target) => {
      if (!("seen" in target)) return { ...target };
      const { seen: _, ...kept } = target;
      return kept;
    }),
  };
}

// Both are written only here.
function targetsIn(meaning: JsonValue): readonly Target[] {
  const targets = isJsonObject(meaning) ? member(meaning, "targets") : undefined;
  return isJsonArray(targets) ? (targets as unknown as readonly Target[]) : [];
}

function toOutcome(value: JsonValue): AnswersOutcome {
  return value as unknown as AnswersOutcome;
}
