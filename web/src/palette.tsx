import { type ReactNode, useState } from "react";
import type { Confirmation } from "./api/types.ts";
import { questionText } from "./features/confirmation/card/question.ts";
import { undoLast } from "./features/confirmation/decide/held.ts";
import { board } from "./features/inbox/board.ts";
import { setFilters } from "./features/inbox/filters-in-address.ts";
import { type Filters, NO_FILTERS } from "./features/inbox/select-rows.ts";
import { type View, views } from "./features/inbox/views.ts";
import { go } from "./router.ts";
import { Dialog } from "./ui/dialog.tsx";
import { useStore } from "./ui/store.ts";
import { Words } from "./ui/words.tsx";

interface Command {
  readonly name: string;
  /** Who asks for it. */
  readonly by?: string;
  readonly act: () => void;
}

const MOST = 12;

/** One field that leads everywhere: pages, views, filters and what waits. */
export function Palette({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const found = useCommands(text);
  const run = (command: Command | undefined): void => {
    if (command === undefined) return;
    onClose();
    command.act();
  };
  return (
    <Dialog title="Go to a page, or run a command" className="dialog-palette" onClose={onClose} isLight>
      <input
        className="input"
        aria-label="Command"
        placeholder="A page, a view, a tool, a request…"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette"
        aria-activedescendant={found.length === 0 ? undefined : `palette-${chosen}`}
        value={text}
        autoFocus
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
        }}
        onKeyDown={(event) => {
          const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
          if (event.key === "Enter") run(found[chosen]);
          if (by === 0) return;
          event.preventDefault();
          setChosen(Math.min(found.length - 1, Math.max(0, chosen + by)));
        }}
      />
      <div className="palette" id="palette" role="listbox" aria-label="Commands">
        {found.map((command, index) => (
          <div
            key={`${index} ${command.name}`}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === chosen}
            onPointerMove={() => setChosen(index)}
            onClick={() => run(command)}
          >
            <span className="palette-name">
              <Words text={command.name} maxLength={160} />
            </span>
            {command.by === undefined ? null : (
              <span className="palette-by">
                <Words text={command.by} maxLength={80} />
              </span>
            )}
          </div>
        ))}
      </div>
      {found.length === 0 ? <p className="muted">Nothing found.</p> : null}
    </Dialog>
  );
}

const PAGES: readonly Command[] = [
  { name: "Inbox", act: () => go() },
  { name: "My requests", act: () => go("mine") },
  { name: "History", act: () => go("history") },
  { name: "Unknown outcomes", act: () => go("unknown") },
  { name: "Numbers", act: () => go("numbers") },
  { name: "Grants", act: () => go("grants") },
  { name: "Out of office: who votes for whom", act: () => go("delegations") },
  { name: "Notifications: how I am notified", act: () => go("notifications") },
  { name: "Replay a policy", act: () => go("policy") },
  { name: "Chat", act: () => go("chat") },
  { name: "Who I am, and log out", act: () => go("login") },
  { name: "Undo the last answer", act: undoLast },
];

/** The first of what the words find. */
function useCommands(text: string): readonly Command[] {
  const { confirmations } = useStore(board);
  const saved = useStore(views);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found: Command[] = [];
  for (const command of commands(confirmations, saved, words.length > 0)) {
    const said = `${command.name} ${command.by ?? ""}`.toLowerCase();
    if (words.every((word) => said.includes(word))) found.push(command);
    if (found.length === MOST) break;
  }
  return found;
}

function* commands(
  confirmations: ReadonlyMap<string, Confirmation>,
  saved: readonly View[],
  withRequests: boolean,
): Iterable<Command> {
  yield* PAGES;
  for (const { name, filters } of saved) yield { name: `View: ${name}`, act: () => show(filters) };
  const open = [...confirmations.values()].filter(({ status }) => status === "requested");
  for (const tool of new Set(open.map((one) => one.tool)))
    yield { name: `Only ${tool}`, act: () => show({ ...NO_FILTERS, tool }) };
  // Long lists are searched only once something is typed.
  if (!withRequests) return;
  for (const one of open) yield requestCommand(one);
}

const requestCommands = new WeakMap<Confirmation, Command>();

/** Made once for each: every letter that is typed looks through all of them. */
function requestCommand(one: Confirmation): Command {
  const known = requestCommands.get(one);
  if (known !== undefined) return known;
  const made = { name: questionText(one), by: one.user, act: () => go("confirmations", one.id) };
  requestCommands.set(one, made);
  return made;
}

function show(filters: Filters): void {
  go();
  setFilters(filters);
}
