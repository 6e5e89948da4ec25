import { displayText } from "countersign/protocol";
import { useEffect, useRef } from "react";
import { to } from "../../router.ts";
import { tell } from "../../ui/messages.ts";
import { Store, useStore } from "../../ui/store.ts";
import { questionText } from "../confirmation/card/question.ts";
import { pushing, stopPush } from "../push/push.ts";
import { board } from "./board.ts";

const PLACE = "countersign.notify";
const LONGEST = 120;

/** Does this browser show a desktop notification when something new waits? Off unless somebody turned it on. */
export const notifying: Store<boolean> = new Store(
  isAllowed() && window.localStorage.getItem(PLACE) === "on",
);

export async function setNotifying(on: boolean): Promise<void> {
  if (on && "Notification" in window && Notification.permission === "default")
    await Notification.requestPermission();
  const may = on && isAllowed();
  if (on && !may)
    tell(
      "The browser does not allow this page to notify you. Allow it in the browser’s settings for this site.",
    );
  window.localStorage.setItem(PLACE, may ? "on" : "off");
  notifying.set(may);
  if (!may) await stopPush();
}

function isAllowed(): boolean {
  return "Notification" in window && Notification.permission === "granted";
}

/** Tells of what has come to wait since the page was opened, while nobody looks at it. */
export function useNotifications(): void {
  const state = useStore(board);
  const isOn = useStore(notifying);
  const isPushing = useStore(pushing);
  const known = useRef<Set<string>>(undefined);
  useEffect(() => {
    if (!state.loaded) return;
    const waiting = [...state.confirmations.values()].filter(
      ({ status, can }) => status === "requested" && can.decide,
    );
    const news = known.current === undefined ? [] : waiting.filter(({ id }) => !known.current?.has(id));
    known.current ??= new Set();
    for (const { id } of waiting) known.current.add(id);
    const [first] = news;
    if (!isOn || isPushing || first === undefined || !document.hidden) return;
    const text = displayText(questionText(first), { newlines: "show", maxLength: LONGEST });
    const title = news.length === 1 ? `${first.tool} waits for you` : `${news.length} requests wait for you`;
    show(displayText(title, { newlines: "show", maxLength: LONGEST }), text, () => {
      window.focus();
      window.location.hash = news.length === 1 ? to("confirmations", first.id) : to();
    });
  }, [state, isOn, isPushing]);
}

function show(title: string, body: string, onClick: () => void): void {
  try {
    new Notification(title, { body, tag: "countersign" }).addEventListener("click", onClick);
  } catch {
    // Browsers of phones have the name of it and not the thing; the list tells the same.
  }
}
