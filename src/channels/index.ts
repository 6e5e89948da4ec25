export type { Channel, NotedCall, Notice, NoticeType, Told } from "./channel.ts";
export type { DeliveryFailure } from "./channel-deliveries.ts";
export {
  type Deliveries,
  type DeliveriesOptions,
  startDeliveries,
} from "./delivery.ts";
export { DEFAULT_DELIVERY_SETTINGS, type DeliverySettings } from "./delivery-settings.ts";
export {
  type ChannelDecision,
  createInbound,
  type Desk,
  type Inbound,
  type InboundAnswer,
  type InboundRequest,
  type Receive,
} from "./inbound.ts";
export { askedAmong, type ChannelPerson } from "./people.ts";
