export { createRoomChannel, type RoomOptions } from "./room-channel.ts";
