import type { Statistics } from "countersign/client";
import type { ReactNode } from "react";
import { Button } from "../../ui/button.tsx";
import { tell, tellDone } from "../../ui/messages.ts";
import { Words } from "../../ui/words.tsx";

/** What people only ever approved, with the text of a rule for it. Nothing here applies it. */
export function Candidates({ candidates }: { readonly candidates: Statistics["ruleCandidates"] }): ReactNode {
  return (
    <section className="panel">
      <h2>Approved without change for a month</h2>
      {candidates.length === 0 ? (
        <p className="muted">
          None. A tool appears here after 30 days with at least 10 approvals and no denial, change, expiry or
          unknown outcome.
        </p>
      ) : (
        <>
          <p className="muted">
            These could be rules of a policy. This page changes nothing: read the text, change it, and try it
            with <code>countersign policy replay</code>. An <code>allow</code> does not stop a tool or another
            rule from asking: change what asks now, too.
          </p>
          <ul className="candidates">
            {candidates.map((candidate) => (
              <Candidate key={`${candidate.app} ${candidate.tool}`} candidate={candidate} />
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function Candidate({
  candidate: { tool, app, approved, since, rules, yaml },
}: {
  readonly candidate: Statistics["ruleCandidates"][number];
}): ReactNode {
  return (
    <li className="candidate">
      <p>
        <strong>
          <Words text={tool} maxLength={80} />
        </strong>{" "}
        <span className="muted">
          in <Words text={app} maxLength={80} />: {approved.toLocaleString()} approved since {since};{" "}
          {rules.length === 0 ? (
            "the tool itself asks"
          ) : (
            <>
              asked by the rule <Words text={rules.join(", ")} maxLength={120} />
            </>
          )}
        </span>
      </p>
      <pre className="candidate-rule">
        <Words text={yaml.trimEnd()} block />
      </pre>
      <Button
        small
        onClick={() => {
          navigator.clipboard.writeText(yaml).then(
            () => tellDone("The rule was copied. Nothing was applied."),
            () => tell("The browser did not allow copying. Select the text instead."),
          );
        }}
      >
        Copy the rule
      </Button>
    </li>
  );
}
