import "./policy.css";
import { type ReactNode, useState } from "react";
import { ask, client } from "../../api/client.ts";
import type { ReplayReport } from "../../api/types.ts";
import { Button } from "../../ui/button.tsx";

const SPANS = [1, 7, 30, 90, 365];

/** Takes a policy file, pasted or chosen, and has past calls judged by it. */
export function ReplayForm({ onReport }: { readonly onReport: (report: ReplayReport) => void }): ReactNode {
  const [policy, setPolicy] = useState("");
  const [days, setDays] = useState(30);
  const [fault, setFault] = useState("");
  const [isSending, setSending] = useState(false);
  const replay = async (): Promise<void> => {
    setSending(true);
    setFault("");
    const replayed = await ask(client.replayPolicy({ policy, days }));
    setSending(false);
    if (replayed.ok) onReport(replayed.value);
    else setFault(replayed.problem.detail);
  };
  const choose = async (file: File | undefined): Promise<void> => {
    if (file !== undefined) setPolicy(await file.text());
  };
  const off = isSending
    ? "Reading the journal…"
    : policy.trim() === ""
      ? "Paste or choose a policy."
      : undefined;
  return (
    <div className="replay-form">
      <label className="field">
        <span className="label">Policy, as YAML</span>
        <textarea
          className="input input-code"
          rows={12}
          spellCheck={false}
          value={policy}
          onChange={(event) => setPolicy(event.target.value)}
        />
      </label>
      <label className="field">
        <span className="label">Or a file</span>
        <input
          className="input"
          type="file"
          accept=".yaml,.yml"
          onChange={(event) => {
            choose(event.target.files?.[0]).catch(() => setFault("The file cannot be read."));
          }}
        />
      </label>
      <Span days={days} onChoose={setDays} />
      <div className="row">
        <Button look="ink" off={off} onClick={replay}>
          Replay
        </Button>
      </div>
      <p className="field-fault form-fault" role="status">
        {fault}
      </p>
    </div>
  );
}

function Span({
  days,
  onChoose,
}: {
  readonly days: number;
  readonly onChoose: (days: number) => void;
}): ReactNode {
  return (
    <label className="field">
      <span className="label">Calls of the last</span>
      <select className="input" value={days} onChange={(event) => onChoose(Number(event.target.value))}>
        {SPANS.map((span) => (
          <option key={span} value={span}>
            {span === 1 ? "day" : `${span} days`}
          </option>
        ))}
      </select>
    </label>
  );
}
