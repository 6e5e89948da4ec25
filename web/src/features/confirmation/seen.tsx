import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";

/** Counts what is folded and was never opened. */
interface Seen {
  change(by: 1 | -1): void;
}

const SeenContext = createContext<Seen>({ change: () => undefined });

/** How much of what is inside has not been opened yet; to be shown beside the button that waits for it. */
export function useUnseen(): { readonly unseen: number; readonly seen: Seen } {
  const [unseen, setUnseen] = useState(0);
  const seen = useMemo<Seen>(() => ({ change: (by) => setUnseen((count) => count + by) }), []);
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

/** Something folded: it counts as unseen until it has been opened once. */
export function useFold(): { readonly isOpen: boolean; readonly toggle: () => void } {
  const seen = useContext(SeenContext);
  const [isOpen, setOpen] = useState(false);
  const [wasOpened, setOpened] = useState(false);
  useEffect(() => {
    if (wasOpened) return undefined;
    seen.change(1);
    return () => seen.change(-1);
  }, [seen, wasOpened]);
  return {
    isOpen,
    toggle: () => {
      setOpen(!isOpen);
      setOpened(true);
    },
  };
}
