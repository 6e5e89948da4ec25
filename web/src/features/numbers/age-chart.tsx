import type { Statistics } from "countersign/client";
import type { ReactNode } from "react";
import { span } from "../../ui/times.ts";

/** What waits now, by how long it has waited. */
export function AgeChart({ waiting: { count, capped, ages } }: Pick<Statistics, "waiting">): ReactNode {
  const most = Math.max(1, ...ages.map((age) => age.count));
  return (
    <figure className="panel">
      <figcaption>
        <h2>Waiting, by age</h2>
      </figcaption>
      {count === 0 ? <p className="muted">Nothing waits.</p> : null}
      <ul className="ages">
        {ages.map(({ upTo, count: here }, index) => (
          <li key={upTo ?? "more"}>
            <span className="small">{nameOf(ages, index)}</span>
            <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
              <rect className="bar-ground" x={0} y={0} width={100} height={10} />
              <rect className="bar-waiting" x={0} y={0} width={(100 * here) / most} height={10} />
            </svg>
            <span className="small ages-count">{here.toLocaleString()}</span>
          </li>
        ))}
      </ul>
      {capped ? (
        <p className="small muted">
          Of the {count.toLocaleString()} whose deadline is nearest. More are waiting.
        </p>
      ) : null}
    </figure>
  );
}

function nameOf(ages: Statistics["waiting"]["ages"], index: number): string {
  const upTo = ages[index]?.upTo;
  return upTo === undefined ? `${short(ages[index - 1]?.upTo ?? 0)} or more` : `under ${short(upTo)}`;
}

function short(seconds: number): string {
  return span(seconds * 1000)
    .replace(/ 00 min$/, "")
    .replace(/ 00 s$/, "");
}
