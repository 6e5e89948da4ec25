import type { ReactNode } from "react";
import type { ReplayDifference, ReplayReport } from "../../api/types.ts";
import { to } from "../../router.ts";
import { At } from "../../ui/time.tsx";
import { Words } from "../../ui/words.tsx";
import { differenceSentence, examplesTitle } from "./replay-words.ts";

/** What the policy would have changed, with links to the calls. */
export function ReplayResult({ report }: { readonly report: ReplayReport }): ReactNode {
  const { calls, complete, judgedFrom, stopsAsking, newlyAsks, newlyDenies, stopsDenying, suggestions } =
    report;
  return (
    <section className="replay-result" aria-label="Result">
      <p>
        {calls === 1 ? "1 call was judged." : `${calls} calls were judged.`}
        {complete ? null : (
          <>
            {" "}
            These are the newest, since <At at={judgedFrom} />. Older ones were left out; the command line
            judges all.
          </>
        )}
      </p>
      <Difference what="Would stop asking" found={stopsAsking} />
      <Difference what="Would newly ask" found={newlyAsks} />
      <Difference what="Would newly deny" found={newlyDenies} />
      <Difference what="Would stop denying" found={stopsDenying} />
      {suggestions.length === 0 ? null : (
        <>
          <h2>Exceptions and grants that history supports</h2>
          <p className="muted">Nothing is changed. Copy what you want into the file.</p>
          <ul>
            {suggestions.map(({ rule, tool, unless, grants, approvals }) => (
              <li key={`${rule} ${tool} ${unless ?? grants}`}>
                <Words text={`${rule} (${tool}), ${approvals} approved: `} maxLength={300} />
                <code>
                  <Words
                    text={unless === undefined ? `grants: ${grants}` : `unless: ${unless}`}
                    maxLength={300}
                  />
                </code>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function Difference({ what, found }: { readonly what: string; readonly found: ReplayDifference }): ReactNode {
  return (
    <>
      <p className={found.count === 0 ? "muted" : "replay-difference"}>{differenceSentence(what, found)}</p>
      {found.examples.length === 0 ? null : (
        <details>
          <summary>{examplesTitle(found)}</summary>
          <ul>
            {found.examples.map((id) => (
              <li key={id}>
                <a href={to("confirmations", id)}>
                  <Words text={id} maxLength={120} />
                </a>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}
