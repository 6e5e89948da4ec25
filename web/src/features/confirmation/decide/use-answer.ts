import type { UserQuestion } from "countersign/protocol";
import { useMemo, useState } from "react";
import type { Confirmation, Decision, JsonObject, JsonValue } from "../../../api/types.ts";
import { useDraft } from "../forms/drafts.ts";
import {
  asObject,
  type Form,
  type FormResult,
  formOf,
  formOfExample,
  readForm,
  type Typed,
} from "../forms/form-fields.ts";
import { questionsIn, readAnswers } from "../forms/questions.ts";

const REDACTED = "[redacted]";

/** A form of the card: what it is made of, what was typed, and what that means. */
export interface FormState {
  readonly form: Form;
  readonly typed: Typed;
  readonly result: FormResult;
  readonly onType: (typed: Typed) => void;
}

/** What a person puts into a card before they decide. */
export interface Answer {
  readonly payload?: FormState;
  /** What is asked, where the answer is to questions and not to whether something may be done. */
  readonly questions?: readonly UserQuestion[];
  readonly amendment?: FormState;
  readonly isAmending: boolean;
  readonly setAmending: (isAmending: boolean) => void;
  /** Why the arguments cannot be changed here although the tool allows it. */
  readonly amendOff?: string;
  /** The arguments that will run, where they were changed. */
  readonly amended?: JsonObject;
  /** What keeps an approval from being sent. */
  readonly fault?: string;
  /** Every fault is marked at its field, also where nothing was typed. */
  readonly isChecked: boolean;
  /** Marks every fault. */
  readonly check: () => void;
  approval(): Decision;
}

export function useAnswer(confirmation: Confirmation): Answer {
  const { id, digest, schema, payload, args, argsSchema, amendable, version } = confirmation;
  const [typedPayload, setPayload] = useDraft<Typed>(id, `${digest} payload`, {});
  const [typedArgs, setArgs] = useDraft<Typed>(id, `${digest} arguments`, {});
  const [isAmending, setAmending] = useDraft(id, `${digest} amending`, false);
  const [isChecked, setChecked] = useState(false);
  const payloadForm = useMemo(() => payloadFormOf(schema, payload), [schema, payload]);
  const argsForm = useMemo(() => argsFormOf(args, argsSchema, amendable), [args, argsSchema, amendable]);
  const questions = useMemo(() => questionsIn(confirmation), [confirmation]);
  const payloadState =
    questions === undefined
      ? stateOf(payloadForm, typedPayload, setPayload)
      : questionsState(questions, typedPayload, setPayload);
  const argsState = stateOf(argsForm, typedArgs, setArgs);
  const amended = isAmending ? amendedArgs(args, argsState) : undefined;
  const fault =
    faultOf(payloadState, "answer") ?? (isAmending ? faultOf(argsState, "changed arguments") : undefined);
  const hasSecret = JSON.stringify(args).includes(JSON.stringify(REDACTED));
  return {
    ...(payloadState === undefined ? {} : { payload: payloadState }),
    ...(questions === undefined ? {} : { questions }),
    ...(argsState === undefined ? {} : { amendment: argsState }),
    isAmending,
    setAmending,
    ...(hasSecret
      ? { amendOff: "The arguments contain a secret that is not shown here, so they cannot be changed." }
      : {}),
    ...(amended === undefined ? {} : { amended }),
    ...(fault === undefined ? {} : { fault }),
    isChecked,
    check: () => setChecked(true),
    approval: () => ({
      confirmed: true,
      version,
      ...(payloadState?.result.ok === true ? { payload: payloadState.result.value } : {}),
      ...(amended === undefined ? {} : { args: amended }),
    }),
  };
}

function payloadFormOf(schema: JsonObject | undefined, example: JsonValue | undefined): Form | undefined {
  if (schema !== undefined) return formOf(schema, example);
  return example === undefined ? undefined : formOfExample(example);
}

function argsFormOf(
  args: JsonObject,
  schema: JsonObject | undefined,
  amendable: Confirmation["amendable"],
): Form | undefined {
  if (amendable === undefined) return undefined;
  const form =
    asObject(schema?.["properties"]) === undefined ? formOfExample(args) : formOf(schema ?? {}, args);
  if (amendable === true || form.whole) return form;
  return { ...form, fields: form.fields.filter(({ name }) => amendable.includes(name)) };
}

function stateOf(
  form: Form | undefined,
  typed: Typed,
  onType: (typed: Typed) => void,
): FormState | undefined {
  return form === undefined ? undefined : { form, typed, result: readForm(form, typed), onType };
}

function questionsState(
  questions: readonly UserQuestion[],
  typed: Typed,
  onType: (typed: Typed) => void,
): FormState {
  return { form: { whole: false, fields: [] }, typed, result: readAnswers(questions, typed), onType };
}

function amendedArgs(args: JsonObject, state: FormState | undefined): JsonObject | undefined {
  if (state?.result.ok !== true) return undefined;
  const changed = asObject(state.result.value);
  if (changed === undefined) return undefined;
  const offered = new Set(state.form.fields.map(({ name }) => name));
  const kept = Object.entries(args).filter(([name]) => !offered.has(name));
  const next: JsonObject = { ...Object.fromEntries(kept), ...changed };
  return sameMembers(args, next) ? undefined : next;
}

function faultOf(state: FormState | undefined, what: string): string | undefined {
  if (state === undefined || state.result.ok) return undefined;
  const [[name, said] = ["", ""]] = Object.entries(state.result.faults);
  if (state.form.fields.length === 0) return said;
  const label = state.form.fields.find((field) => field.name === name)?.label ?? name;
  return `The ${what} ${label === "" ? "is" : `“${label}” is`} not complete.`;
}

function sameMembers(left: JsonObject, right: JsonObject): boolean {
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...names].every((name) => JSON.stringify(left[name]) === JSON.stringify(right[name]));
}
