import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from "react";

/** What somebody has not looked at yet. */
export interface Unseen {
  /** Parts that are folded and were never opened. */
  readonly folded: number;
  /** Files that are not shown and were never saved. */
  readonly unsaved: number;
  /** Ends that were never scrolled into view. */
  readonly below: number;
}

interface Seen {
  change(what: keyof Unseen, by: 1 | -1): void;
}

const SeenContext = createContext<Seen | undefined>(undefined);

/** How much of the content has not been seen yet; shown beside the button that waits for it. */
export function useUnseen(): { readonly unseen: Unseen; readonly seen: Seen } {
  const [unseen, setUnseen] = useState<Unseen>({ folded: 0, unsaved: 0, below: 0 });
  const seen = useMemo<Seen>(
    () => ({
      change: (what, by) => setUnseen((counts) => ({ ...counts, [what]: counts[what] + by })),
    }),
    [],
  );
  return { unseen, seen };
}

export function SeenScope({
  seen,
  children,
}: {
  readonly seen: Seen;
  readonly children: ReactNode;
}): ReactNode {
  return <SeenContext value={seen}>{children}</SeenContext>;
}

/** What is still to be seen, if anything. */
export function unseenSentence({ folded, unsaved, below }: Unseen): string | undefined {
  if (folded > 0)
    return `Expand ${folded === 1 ? "the collapsed part" : `the ${folded} collapsed parts`} of the arguments first.`;
  if (unsaved > 0)
    return `Save and check ${unsaved === 1 ? "the file that is" : `the ${unsaved} files that are`} not shown first.`;
  return below > 0 ? "Scroll to the end of the arguments first." : undefined;
}

function useCounted(what: keyof Unseen, isSeen: boolean): void {
  const seen = useContext(SeenContext);
  useEffect(() => {
    if (isSeen) return undefined;
    seen?.change(what, 1);
    return () => seen?.change(what, -1);
  }, [seen, what, isSeen]);
}

/** Something folded: it counts as unseen until it has been opened once. */
export function useFold(): { readonly isOpen: boolean; readonly toggle: () => void } {
  const [isOpen, setOpen] = useState(false);
  const [wasOpened, setOpened] = useState(false);
  useCounted("folded", wasOpened);
  return {
    isOpen,
    toggle: () => {
      setOpen(!isOpen);
      setOpened(true);
    },
  };
}

/** A file: it counts as unseen until it was shown or saved. */
export function useFile(isSeen: boolean): void {
  useCounted("unsaved", isSeen);
}

/** The end of something: it counts as unseen until it was in view, or scrolled past, once. */
export function EndMark(): ReactNode {
  const mark = useRef<HTMLSpanElement>(null);
  const [wasReached, setReached] = useState(false);
  useCounted("below", wasReached);
  useEffect(() => {
    const element = mark.current;
    if (element === null) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setReached(true);
      },
      // All that lies above the view counts as in it.
      { root: element.closest(SCROLLERS), rootMargin: "1000000px 0px 0px 0px" },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return <span className="end-mark" ref={mark} />;
}

const SCROLLERS = ".card-scroll, .chat-scroll, .review";
