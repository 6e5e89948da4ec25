import { type ReactNode, useState } from "react";
import type { Outcome } from "../../../api/client.ts";
import type { CallOwner, JsonValue, SettlementInput } from "../../../api/types.ts";
import { Button } from "../../../ui/button.tsx";
import { HoldButton } from "../../../ui/hold-button.tsx";
import { useStore } from "../../../ui/store.ts";
import { Ago } from "../../../ui/time.tsx";
import { Words } from "../../../ui/words.tsx";
import { held, heldFor, hold } from "../decide/held.ts";
import { useDraft } from "./drafts.ts";

export interface SettleFormProps {
  /** What it is about, and in a few words. */
  readonly id: string;
  readonly what: string;
  /** Running it again takes a deliberate act, as approving it did. */
  readonly isHold?: boolean;
  /** It ran under a grant, which allows one run and gets back what did not happen. */
  readonly isGranted?: boolean;
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
  undone: "It did not happen, not even in part: give its use back to the grant",
  retry: "It did not happen: run it again",
} as const;
type Choice = keyof typeof CHOICES;
const VERBS: Readonly<Record<Choice, string>> = {
  succeeded: "Settling as succeeded:",
  failed: "Settling as failed:",
  undone: "Settling as not happened:",
  retry: "Running again:",
};

/** The form for settling an unknown call, with what is known about it. */
export function SettleForm(props: SettleFormProps): ReactNode {
  const { owner, startedAt, attempt = 0 } = props;
  const settling = useSettling(props);
  const { choice, text } = settling;
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
      <fieldset className="lockable" role="presentation" disabled={settling.isLocked}>
        <Choices
          chosen={choice}
          without={props.isGranted === true ? "retry" : "undone"}
          onChoose={settling.choose}
        />
        <Told choice={choice} text={text} onType={settling.type} />
        {choice === "retry" ? (
          <p className="notice notice-warn" role="note">
            If it did happen, it happens a second time. Run it again only if you have seen that it did not.
          </p>
        ) : null}
        <div className="row">
          <SettleButton settling={settling} isHold={props.isHold === true} />
          {settling.fault === undefined ? null : (
            <span className="field-fault" role="alert">
              <Words text={settling.fault} />
            </span>
          )}
        </div>
      </fieldset>
    </section>
  );
}

interface Settling {
  readonly choice: Choice | undefined;
  readonly text: string;
  readonly fault: string | undefined;
  readonly isLocked: boolean;
  readonly choose: (choice: Choice) => void;
  readonly type: (text: string) => void;
  readonly submit: () => void;
}

/** What is said is held for a moment, and can be undone, as a decision can. */
function useSettling({ id, what, attempt = 0, send, onSettled }: SettleFormProps): Settling {
  const [choice, choose] = useDraft<Choice | undefined>(id, "settlement", undefined);
  const [text, type] = useDraft(id, "settled as", "");
  const [fault, setFault] = useState<string>();
  const isLocked = heldFor(useStore(held), id) !== undefined;
  const submit = (): void => {
    if (choice === undefined) return;
    setFault(undefined);
    hold({
      about: [id],
      verb: VERBS[choice],
      what,
      send: async (key) => {
        const outcome = await send({ ...toSettlement(choice, text), attempt }, key);
        if (outcome.ok) onSettled(outcome.value);
        else if (outcome.problem.status === 0) return false;
        else setFault(outcome.problem.detail);
        return true;
      },
    });
  };
  return { choice, text, fault, isLocked, choose, type, submit };
}

function SettleButton({
  settling: { choice, text, submit },
  isHold,
}: {
  readonly settling: Settling;
  readonly isHold: boolean;
}): ReactNode {
  const off = settleOff(choice, text);
  if (choice !== "retry") {
    return (
      <Button look="ink" off={off} onClick={submit}>
        Settle
      </Button>
    );
  }
  return isHold ? (
    <HoldButton off={off} onHeld={submit}>
      Hold to run it again
    </HoldButton>
  ) : (
    <Button look="reject" off={off} onClick={submit}>
      Run it again
    </Button>
  );
}

interface ChoicesProps {
  readonly chosen: Choice | undefined;
  readonly without: Choice;
  readonly onChoose: (choice: Choice) => void;
}

function Choices({ chosen, without, onChoose }: ChoicesProps): ReactNode {
  const choices = (Object.keys(CHOICES) as Choice[]).filter((choice) => choice !== without);
  return (
    <fieldset className="choices">
      <legend className="sr-only">What happened?</legend>
      {choices.map((choice) => (
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
  if (choice === undefined || choice === "retry") return null;
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

function settleOff(choice: Choice | undefined, text: string): string | undefined {
  if (choice === undefined) return "First choose what happened.";
  return (choice === "failed" || choice === "undone") && text.trim() === ""
    ? "Say what went wrong."
    : undefined;
}

function toSettlement(choice: Choice, text: string): SettlementInput {
  switch (choice) {
    case "retry":
      return { as: "retry" };
    case "failed":
      return { as: "failed", error: text.trim() };
    case "undone":
      return { as: "failed", error: text.trim(), happened: false };
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
