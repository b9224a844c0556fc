// The event store that the official SDKs take, in memory: ids are numbers, in the order in which the events came.
export class EventStore {
  #events = [];

  async storeEvent(streamId, message) {
    this.#events.push({ streamId, message });
    return String(this.#events.length);
  }

  async getStreamIdForEventId(eventId) {
    return this.#events[Number(eventId) - 1]?.streamId;
  }

  async replayEventsAfter(lastEventId, { send }) {
    const streamId = await this.getStreamIdForEventId(lastEventId);
    for (let at = Number(lastEventId); at < this.#events.length; at += 1) {
      const { streamId: other, message } = this.#events[at];
      // What has no content only gave the stream an id.
      if (other === streamId && message.jsonrpc) await send(String(at + 1), message);
    }
    return streamId;
  }
}
