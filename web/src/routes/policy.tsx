import { type ReactNode, useState } from "react";
import type { ReplayReport } from "../api/types.ts";
import { ReplayForm } from "../features/policy/replay-form.tsx";
import { ReplayResult } from "../features/policy/replay-result.tsx";

/** Compares another policy with what people decided. */
export function PolicyPage(): ReactNode {
  const [report, setReport] = useState<ReplayReport | undefined>(undefined);
  return (
    <main className="page">
      <div className="page-head">
        <h1>Replay a policy</h1>
      </div>
      <p className="muted">
        Judges past calls by another policy, and compares with what people decided. Nothing is changed. For
        administrators.
      </p>
      <ReplayForm onReport={setReport} />
      {report === undefined ? null : <ReplayResult report={report} />}
    </main>
  );
}
