import { type ReactNode, useMemo, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { useStore } from "../../ui/store.ts";
import { plainWords, Words } from "../../ui/words.tsx";
import { board } from "./board.ts";
import { type Filters, NO_FILTERS } from "./select-rows.ts";
import { removeView, saveView, views } from "./views.ts";

export interface FilterBarProps {
  readonly filters: Filters;
  readonly onFilter: (filters: Filters) => void;
}

const NAMES = { tool: "Tool", agent: "Agent", user: "Requester" } as const;
type Facet = keyof typeof NAMES;

/** Search and filters. What can be chosen is what is there. */
export function FilterBar({ filters, onFilter }: FilterBarProps): ReactNode {
  const choices = useChoices();
  const isFiltered = JSON.stringify(filters) !== JSON.stringify(NO_FILTERS);
  return (
    <search className="filters">
      <input
        id="search"
        className="input"
        type="search"
        aria-label="Search"
        placeholder="Search waiting requests"
        value={filters.search}
        onChange={(event) => onFilter({ ...filters, search: event.target.value })}
      />
      <div className="filters-row filters-choices">
        <Choice
          label="Show"
          value={filters.show}
          choices={[
            ["mine", "For me"],
            ["all", "All I can see"],
            ["snoozed", "Not now"],
            ["unknown", "Outcome unknown"],
            ["decided", "Recently decided"],
          ]}
          onChoose={(show) => onFilter({ ...filters, show: show as Filters["show"] })}
        />
        {(Object.keys(NAMES) as Facet[]).map((facet) => (
          <Choice
            key={facet}
            label={NAMES[facet]}
            value={filters[facet]}
            choices={[
              ["", facet === "user" ? "From" : NAMES[facet]],
              ...choices[facet].map((name) => [name, name] as const),
            ]}
            onChoose={(value) => onFilter({ ...filters, [facet]: value })}
          />
        ))}
      </div>
      <Views filters={filters} isFiltered={isFiltered} onFilter={onFilter} />
    </search>
  );
}

/** Saved views, and saving one. */
function Views({
  filters,
  isFiltered,
  onFilter,
}: FilterBarProps & { readonly isFiltered: boolean }): ReactNode {
  const saved = useStore(views);
  const [name, setName] = useState<string>();
  const here = saved.find((view) => JSON.stringify(view.filters) === JSON.stringify(filters));
  if (saved.length === 0 && !isFiltered) return null;
  const save = (): void => {
    if (name !== undefined && name.trim() !== "") saveView(name.trim(), filters);
    setName(undefined);
  };
  return (
    <div className="filters-row views">
      {isFiltered ? (
        <Button look="link" onClick={() => onFilter(NO_FILTERS)}>
          Clear
        </Button>
      ) : null}
      {saved.map((view) => (
        <Button key={view.name} small pressed={view === here} onClick={() => onFilter(view.filters)}>
          <Words text={view.name} maxLength={40} />
        </Button>
      ))}
      {here !== undefined ? (
        <Button look="link" onClick={() => removeView(here.name)}>
          Remove view
        </Button>
      ) : !isFiltered ? null : name === undefined ? (
        <Button look="link" onClick={() => setName("")}>
          Save view…
        </Button>
      ) : (
        <form
          className="filters-row"
          onSubmit={(event) => {
            event.preventDefault();
            save();
          }}
        >
          <input
            className="input"
            aria-label="Name of the view"
            placeholder="Name of the view"
            maxLength={40}
            value={name}
            autoFocus
            onChange={(event) => setName(event.target.value)}
          />
          <Button small onClick={save}>
            Save
          </Button>
        </form>
      )}
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly (readonly [string, string])[];
  readonly onChoose: (value: string) => void;
}

function Choice({ label, value, choices, onChoose }: ChoiceProps): ReactNode {
  return (
    <select
      className={value === "" || value === "mine" ? "choice" : "choice choice-on"}
      aria-label={label}
      value={value}
      onChange={(event) => onChoose(event.target.value)}
    >
      {choices.map(([name, text]) => (
        <option key={name} value={name}>
          {plainWords(text)}
        </option>
      ))}
    </select>
  );
}

function useChoices(): Readonly<Record<Facet, readonly string[]>> {
  const state = useStore(board);
  return useMemo(() => {
    const found = { tool: new Set<string>(), agent: new Set<string>(), user: new Set<string>() };
    for (const item of state.confirmations.values()) {
      if (item.status !== "requested") continue;
      for (const facet of Object.keys(found) as Facet[]) found[facet].add(item[facet]);
    }
    return {
      tool: [...found.tool].toSorted(),
      agent: [...found.agent].toSorted(),
      user: [...found.user].toSorted().slice(0, 500),
    };
  }, [state]);
}
