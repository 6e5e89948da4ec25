import "./grants.css";
import { type ReactNode, useState } from "react";
import type { Confirmation, GrantLimits } from "../../api/types.ts";
import { to } from "../../router.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { HoldButton } from "../../ui/hold-button.tsx";
import { Words } from "../../ui/words.tsx";
import { exactSpan, grantSentence, readLimits, shortLimits, spansUpTo } from "./grant-words.ts";

export interface GrantDialogProps {
  readonly confirmation: Confirmation;
  /** The most that may be granted. */
  readonly most: GrantLimits;
  /** Why it cannot be approved now. */
  readonly off: string | undefined;
  readonly onGrant: (limits: GrantLimits) => void;
  readonly onClose: () => void;
}

/** Approves the call, and grants further ones: the sentence says exactly which. */
export function GrantDialog({ confirmation, most, off, onGrant, onClose }: GrantDialogProps): ReactNode {
  const given = confirmation.votes.find(({ grant }) => grant !== undefined)?.grant;
  const start = given ?? most;
  // Only a session, unless somebody chooses more.
  const [typed, setTyped] = useState<Typed>(() => typedFrom(given ?? { ...most, scope: "session" }, most));
  const read = readLimits(most, typed);
  const fault = read.ok ? off : read.fault;
  const grant = (): void => {
    if (!read.ok) return;
    onClose();
    onGrant(read.limits);
  };
  return (
    <Dialog title="Approve and grant" onClose={onClose}>
      <Fields most={most} longest={start.forMs} typed={typed} onType={setTyped} />
      {given === undefined ? null : (
        <p className="small muted">
          Another approver grants <Words text={shortLimits(given)} maxLength={200} />. All approvers must give
          the same grant.
        </p>
      )}
      <p className="grant-sentence" role="status">
        This call is approved.{" "}
        {read.ok ? <Words text={grantSentence(confirmation, read.limits)} maxLength={600} /> : null}
      </p>
      <p className="small muted">
        Nobody sees those calls before they run. You can revoke it at any time under{" "}
        <a href={to("grants")}>Grants</a>.
      </p>
      <div className="row">
        {confirmation.layout?.hold === true ? (
          <HoldButton off={fault} onHeld={grant}>
            Hold to approve and grant
          </HoldButton>
        ) : (
          <Button look="approve" off={fault} onClick={grant}>
            Approve and grant
          </Button>
        )}
        <Button look="quiet" onClick={onClose}>
          Back
        </Button>
      </div>
      <p className="decision-off" role="status">
        {fault}
      </p>
    </Dialog>
  );
}

type Typed = Parameters<typeof readLimits>[1];

function typedFrom(
  { scope = "session", forMs, count, sum = {}, where = [] }: GrantLimits,
  most: GrantLimits,
): Typed {
  const sums = Object.entries(sum).map(([name, value]) => [name, String(value)] as const);
  const own = where.filter((condition) => !most.where?.includes(condition));
  return { scope, forMs, count: String(count), sum: Object.fromEntries(sums), where: own.join(" && ") };
}

interface FieldsProps {
  readonly most: GrantLimits;
  /** Offered, whether or not it is a usual span. */
  readonly longest: number;
  readonly typed: Typed;
  readonly onType: (typed: Typed) => void;
}

function Fields({ most, longest, typed, onType }: FieldsProps): ReactNode {
  const { forMs, count, sum } = typed;
  const spans = [...new Set([...spansUpTo(most.forMs), longest])].toSorted((one, other) => one - other);
  return (
    <div className="grant-fields">
      {most.scope === "user" ? <ScopeField typed={typed} onType={onType} /> : null}
      <label className="field">
        <span className="label">For</span>
        <select
          className="input"
          value={forMs}
          onChange={(event) => onType({ ...typed, forMs: Number(event.target.value) })}
        >
          {spans.map((ms) => (
            <option key={ms} value={ms}>
              {exactSpan(ms)}
            </option>
          ))}
        </select>
      </label>
      <label className="field">
        <span className="label">Further calls, at most {most.count}</span>
        <input
          className="input"
          inputMode="numeric"
          value={count}
          onChange={(event) => onType({ ...typed, count: event.target.value.trim() })}
        />
      </label>
      {Object.entries(most.sum ?? {}).map(([name, limit]) => (
        <label className="field" key={name}>
          <span className="label">
            Sum of <Words text={name} maxLength={60} />, at most {limit}
          </span>
          <input
            className="input"
            inputMode="decimal"
            value={sum[name] ?? ""}
            onChange={(event) => onType({ ...typed, sum: { ...sum, [name]: event.target.value.trim() } })}
          />
        </label>
      ))}
      <label className="field">
        <span className="label">Only where (optional; CEL, for example args.to == "acme")</span>
        <input
          className="input"
          maxLength={1000}
          spellCheck={false}
          value={typed.where}
          onChange={(event) => onType({ ...typed, where: event.target.value })}
        />
      </label>
    </div>
  );
}

function ScopeField({ typed, onType }: Pick<FieldsProps, "typed" | "onType">): ReactNode {
  return (
    <label className="field">
      <span className="label">In</span>
      <select
        className="input"
        value={typed.scope}
        onChange={(event) => onType({ ...typed, scope: event.target.value === "user" ? "user" : "session" })}
      >
        <option value="session">this session</option>
        <option value="user">all sessions of the requester with this agent</option>
      </select>
    </label>
  );
}
