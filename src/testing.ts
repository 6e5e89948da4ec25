export { type ChannelCase, type ChannelSubject, channelContract } from "./channels/channel.contract.ts";
export {
  INBOUND_PEOPLE,
  type InboundCase,
  type InboundSubject,
  inboundContract,
} from "./channels/inbound.contract.ts";
export { ManualClock } from "./engine/index.ts";
export { type LedgerCase, type LedgerSubject, ledgerContract } from "./engine/ledger/ledger.contract.ts";
