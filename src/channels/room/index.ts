/**
 * Rooms: Teams, Discord, Telegram, PagerDuty, Opsgenie. Decided here: what one message for a whole room says, and how it is
 * updated when the question is decided. Nobody decides in a room: its messages link to the inbox.
 */

export { createRoomChannel, type RoomOptions } from "./room-channel.ts";
