import { type ReactNode, useEffect, useRef, useState } from "react";
import type { Confirmation } from "../../api/types.ts";
import { Button } from "../../ui/button.tsx";
import { ImportedBy } from "../../ui/imported-by.tsx";
import { Words } from "../../ui/words.tsx";
import { ReviewDialog } from "../confirmation/decide/review-dialog.tsx";
import type { TalkItem, TextItem, ToolItem } from "./talk.ts";
import { ToolCard } from "./tool-card.tsx";

export interface ConversationProps {
  readonly items: readonly TalkItem[];
  /** Of this session, by the call they are about; the last question of each. */
  readonly confirmations: ReadonlyMap<string, Confirmation>;
  readonly partial: string;
  readonly isWorking: boolean;
}

/** The conversation in order, with the text being streamed at its end. */
export function Conversation({ items, confirmations, partial, isWorking }: ConversationProps): ReactNode {
  const end = useRef<HTMLDivElement>(null);
  const count = items.length;
  useEffect(() => {
    end.current?.scrollIntoView({ block: "end" });
  }, [count, partial]);
  return (
    <div className="conversation" role="log" aria-label="Conversation">
      {items.map((item, index) => (
        <div key={item.key}>
          {isFirstOfTurn(items, index) ? (
            <ApproveAll items={items} index={index} confirmations={confirmations} />
          ) : null}
          <Item item={item} confirmations={confirmations} isWorking={isWorking} />
        </div>
      ))}
      {partial === "" ? null : (
        <p className="bubble bubble-agent" aria-busy="true">
          <Words text={partial} block />
        </p>
      )}
      {isWorking && partial === "" ? <p className="muted small working">Working…</p> : null}
      <div ref={end} />
    </div>
  );
}

interface ItemProps {
  readonly item: TalkItem;
  readonly confirmations: ReadonlyMap<string, Confirmation>;
  readonly isWorking: boolean;
}

function Item({ item, confirmations, isWorking }: ItemProps): ReactNode {
  switch (item.kind) {
    case "tool":
      return <ToolCard item={item} confirmation={questionOf(item, confirmations)} isWorking={isWorking} />;
    case "fault":
      return (
        <p className="notice notice-no">
          <Words text={item.text} maxLength={600} />
        </p>
      );
    case "text":
      return (
        <div className={`bubble bubble-${item.from}${item.nested ? " bubble-nested" : ""}`}>
          <Speaker item={item} />
          <Words text={item.text} block />
        </div>
      );
  }
}

// No question belongs to an imported call, whatever its id.
function questionOf(
  { callId, importedBy }: ToolItem,
  confirmations: ReadonlyMap<string, Confirmation>,
): Confirmation | undefined {
  return importedBy === undefined ? confirmations.get(callId) : undefined;
}

function Speaker({ item: { from, author, importedBy } }: { readonly item: TextItem }): ReactNode {
  if (importedBy === undefined && from === "user") return null;
  return (
    <span className="small muted">
      {importedBy === undefined ? (
        <Words text={author} maxLength={60} />
      ) : (
        <ImportedBy by={importedBy} author={author} />
      )}
    </span>
  );
}

/** Above several open questions of one turn. */
function ApproveAll({
  items,
  index,
  confirmations,
}: {
  readonly items: readonly TalkItem[];
  readonly index: number;
  readonly confirmations: ReadonlyMap<string, Confirmation>;
}): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const first = items[index];
  const open = items
    .filter(
      (item): item is ToolItem => item.kind === "tool" && first?.kind === "tool" && item.turn === first.turn,
    )
    .flatMap((item) => questionOf(item, confirmations) ?? [])
    .filter(({ status, can }) => status === "requested" && can.decide);
  if (open.length < 2) return null;
  return (
    <div className="approve-all">
      <span>{open.length} calls wait for approval</span>
      <Button small look="ink" onClick={() => setOpen(true)}>
        Approve all…
      </Button>
      {isOpen ? <ReviewDialog confirmations={open} onClose={() => setOpen(false)} /> : null}
    </div>
  );
}

function isFirstOfTurn(items: readonly TalkItem[], index: number): boolean {
  const item = items[index];
  const before = items[index - 1];
  return item?.kind === "tool" && !(before?.kind === "tool" && before.turn === item.turn);
}
