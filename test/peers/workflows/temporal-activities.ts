// #region activities
import { refund } from "./refund.ts";

export function askRefund(order: string, amount: number) {
  return refund({ amount }, { key: order, by: { id: "orders" } });
}
// #endregion
