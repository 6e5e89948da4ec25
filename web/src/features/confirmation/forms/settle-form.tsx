import { type ReactNode, useState } from "react";
import type { Outcome } from "../../../api/client.ts";
import { useKeyFor } from "../../../api/new-key.ts";
import type { CallOwner, JsonValue, SettlementInput } from "../../../api/types.ts";
import { Button } from "../../../ui/button.tsx";
import { Ago } from "../../../ui/time.tsx";
import { Words } from "../../../ui/words.tsx";

export interface SettleFormProps {
  readonly owner: CallOwner | undefined;
  readonly startedAt: string | undefined;
  /** The attempt whose end is not known; none if it never began. */
  readonly attempt: number | undefined;
  readonly send: (settlement: SettlementInput, key: string) => Promise<Outcome<unknown>>;
  readonly onSettled: (value: unknown) => void;
}

const CHOICES = {
  succeeded: "It happened",
  failed: "It did not happen, or only in part: do not retry",
  retry: "It did not happen: run it again",
} as const;
type Choice = keyof typeof CHOICES;

/** The form for settling an unknown call, with what is known about it. */
export function SettleForm({ owner, startedAt, attempt = 0, send, onSettled }: SettleFormProps): ReactNode {
  const [choice, setChoice] = useState<Choice>();
  const [text, setText] = useState("");
  const key = useKeyFor(`${choice} ${text}`);
  const [isSending, setSending] = useState(false);
  const [fault, setFault] = useState<string>();
  const submit = async (): Promise<void> => {
    if (choice === undefined || isSending) return;
    setSending(true);
    const outcome = await send({ ...toSettlement(choice, text), attempt }, key);
    setSending(false);
    if (outcome.ok) onSettled(outcome.value);
    else setFault(outcome.problem.detail);
  };
  return (
    <section className="card-section notice notice-plain" aria-label="Settle the outcome">
      <h2>{startedAt === undefined ? "It may have run" : "It was started"}, but its outcome is unknown</h2>
      <p className="small">
        {startedAt === undefined ? null : (
          <>
            Started <Ago at={startedAt} />
            {`, attempt ${attempt}. `}
          </>
        )}
        <OwnerFacts owner={owner} /> Check the system that it changes, then record what you found.
      </p>
      <Choices chosen={choice} onChoose={setChoice} />
      <Told choice={choice} text={text} onType={setText} />
      <div className="row">
        <Button
          look="ink"
          off={settleOff(choice, text, isSending)}
          onClick={() => submit().catch(() => undefined)}
        >
          Settle
        </Button>
        {fault === undefined ? null : (
          <span className="field-fault" role="alert">
            <Words text={fault} />
          </span>
        )}
      </div>
    </section>
  );
}

interface ChoicesProps {
  readonly chosen: Choice | undefined;
  readonly onChoose: (choice: Choice) => void;
}

function Choices({ chosen, onChoose }: ChoicesProps): ReactNode {
  return (
    <fieldset className="choices">
      <legend className="sr-only">What happened?</legend>
      {(Object.keys(CHOICES) as Choice[]).map((choice) => (
        <label key={choice}>
          <input
            type="radio"
            name="settlement"
            value={choice}
            checked={chosen === choice}
            onChange={() => onChoose(choice)}
          />
          {CHOICES[choice]}
        </label>
      ))}
    </fieldset>
  );
}

interface ToldProps {
  readonly choice: Choice | undefined;
  readonly text: string;
  readonly onType: (text: string) => void;
}

function Told({ choice, text, onType }: ToldProps): ReactNode {
  if (choice !== "succeeded" && choice !== "failed") return null;
  return (
    <label className="field">
      <span className="label">
        {choice === "succeeded" ? "Result, as JSON or text" : "What went wrong"} (the model is told)
      </span>
      <textarea className="input" dir="auto" value={text} onChange={(event) => onType(event.target.value)} />
    </label>
  );
}

function OwnerFacts({ owner }: { readonly owner: CallOwner | undefined }): ReactNode {
  if (owner === undefined) return null;
  return (
    <>
      It ran in process {owner.pid} on <Words text={owner.host} maxLength={120} />, last seen{" "}
      <Ago at={owner.lastBeatAt} />
      {owner.alive ? ", which is still running" : ""}.{" "}
    </>
  );
}

function settleOff(choice: Choice | undefined, text: string, isSending: boolean): string | undefined {
  if (choice === undefined) return "Say first what happened.";
  if (choice === "failed" && text.trim() === "") return "Say what went wrong.";
  return isSending ? "Sending…" : undefined;
}

function toSettlement(choice: Choice, text: string): SettlementInput {
  switch (choice) {
    case "retry":
      return { as: "retry" };
    case "failed":
      return { as: "failed", error: text.trim() };
    case "succeeded":
      return { as: "succeeded", result: readResult(text.trim()) };
  }
}

function readResult(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}
