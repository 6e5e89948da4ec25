import "./deliveries.css";
import type { ReactNode } from "react";
import { to } from "../../router.ts";
import { useFailedDeliveries } from "./failed-delivery.ts";

/** A notice of failed deliveries on every page, for administrators. */
export function FailedDeliveryNotice({ isHere }: { readonly isHere: boolean }): ReactNode {
  const found = useFailedDeliveries();
  const count = found?.items.length ?? 0;
  if (count === 0) return null;
  return (
    <a className="failed-delivery-notice" href={to("deliveries")} aria-current={isHere ? "page" : undefined}>
      {count}
      {found?.hasMore === true ? "+" : ""}{" "}
      <span className="failed-delivery-wide">{count === 1 ? "notification was" : "notifications were"} </span>
      not delivered
    </a>
  );
}
