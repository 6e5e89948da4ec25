import type { Statistics } from "countersign/client";
import type { ReactNode } from "react";

type Day = Statistics["days"][number];

const HEIGHT = 100;
const STEP = 10;
const GAP = 2;
const PARTS = [
  ["approved", "Approved"],
  ["denied", "Denied"],
  ["expired", "Expired"],
] as const;
const DATE = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });

/** How each day went, as bars. */
export function DayChart({ days }: { readonly days: readonly Day[] }): ReactNode {
  const most = Math.max(1, ...days.map(heightOf));
  const [first, last] = [days[0], days.at(-1)];
  const parts = PARTS.filter(([part]) => days.some((day) => day[part] !== undefined));
  return (
    <figure className="panel">
      <figcaption>
        <h2>Decisions by day</h2>
        <ul className="legend">
          {parts.map(([part, name]) => (
            <li key={part} className={`legend-${part}`}>
              {name}
            </li>
          ))}
        </ul>
      </figcaption>
      <div className="day-chart">
        <span className="small muted">{most.toLocaleString()}</span>
        <svg
          viewBox={`0 0 ${days.length * STEP} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`Bars for ${days.length} days. At most ${most} decisions on one day. The table below has all of them.`}
        >
          {days.map((day, index) => (
            <Bar key={day.day} day={day} x={index * STEP} most={most} />
          ))}
        </svg>
        <div className="day-chart-axis small muted">
          <span>{first === undefined ? "" : dateOf(first)}</span>
          <span>{last === undefined ? "" : dateOf(last)}</span>
        </div>
      </div>
      <details className="small">
        <summary>As a table</summary>
        <DayTable days={days} parts={parts} />
      </details>
    </figure>
  );
}

function DayTable({
  days,
  parts,
}: {
  readonly days: readonly Day[];
  readonly parts: readonly (typeof PARTS)[number][];
}): ReactNode {
  return (
    <table className="numbers-table">
      <thead>
        <tr>
          <th scope="col">Day (UTC)</th>
          {parts.map(([part, name]) => (
            <th scope="col" key={part}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {days
          .filter((day) => heightOf(day) > 0)
          .map((day) => (
            <tr key={day.day}>
              <th scope="row">{day.day}</th>
              {parts.map(([part, name]) => (
                <td key={part} data-name={name}>
                  {day[part]}
                </td>
              ))}
            </tr>
          ))}
      </tbody>
    </table>
  );
}

function Bar({ day, x, most }: { readonly day: Day; readonly x: number; readonly most: number }): ReactNode {
  let y = HEIGHT;
  return (
    <g>
      <title>{`${day.day}: ${PARTS.map(([part, name]) => `${name} ${day[part] ?? 0}`).join(", ")}`}</title>
      <rect className="bar-ground" x={x} y={0} width={STEP} height={HEIGHT} />
      {PARTS.map(([part]) => {
        const height = (HEIGHT * (day[part] ?? 0)) / most;
        y -= height;
        return height === 0 ? null : (
          <rect
            key={part}
            className={`bar-${part}`}
            x={x + GAP / 2}
            y={y}
            width={STEP - GAP}
            height={height}
          />
        );
      })}
    </g>
  );
}

function heightOf({ approved, denied, expired = 0 }: Day): number {
  return approved + denied + expired;
}

function dateOf({ day }: Day): string {
  return DATE.format(new Date(day));
}
