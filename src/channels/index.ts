/**
 * Channels: how people are reached, and how their answers come back. Driven by the journal, through `engine/deliveries`. Decided
 * here: who is notified about what, and when (their own settings, quiet hours, digests); what every channel must do (the
 * contracts); and how an answer that comes in through a channel is checked. No decision depends on a message.
 */

export {
  DEFAULT_DELIVERY_SETTINGS,
  type DeliveryFailure,
  type DeliverySettings,
  type UsedUp,
} from "../engine/index.ts";
export type { Channel, NotedCall, Notice, NoticeType, Told } from "./channel.ts";
export {
  type Deliveries,
  type DeliveriesOptions,
  startDeliveries,
} from "./delivery.ts";
export {
  type ChannelApprovals,
  type ChannelDeciding,
  type ChannelDecision,
  createInbound,
  type Inbound,
  type InboundAnswer,
  type InboundRequest,
  type Receive,
  type Serve,
} from "./inbound.ts";
export { askedAmong, type ChannelPerson, type PeopleKnown } from "./people.ts";
