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
