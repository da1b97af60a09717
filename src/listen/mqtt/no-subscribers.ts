import { Readable } from 'node:stream'
import type { Client } from 'aedes'

/** The broker's message bus without subscribers: whatever is published has been stored before, and goes nowhere. */
export function noSubscribers() {
  return {
    on: (_topic: string, _deliver: unknown, done?: () => void) => done?.(),
    removeListener: (_topic: string, _deliver: unknown, done?: () => void) => done?.(),
    emit: (_packet: unknown, done?: () => void) => done?.(),
    close: (done: () => void) => done(),
  }
}

/**
 * The broker's memory: empty, as nobody subscribes. No client can fill it: no retained message, will, subscription or
 * outgoing packet is kept. Of QoS 2 the broker is told that it knows every packet, so that it answers at once, with PUBREC
 * to a PUBLISH that has been authorised (which is: stored), with PUBCOMP to a PUBREL.
 */
export function emptyMemory(released: (client: Client, messageId: number) => void) {
  return {
    setup: nothing,
    storeRetained: nothing,
    createRetainedStreamCombi: () => Readable.from([]),
    addSubscriptions: nothing,
    removeSubscriptions: nothing,
    cleanSubscriptions: nothing,
    subscriptionsByClient: none,
    subscriptionsByTopic: none,
    outgoingEnqueue: nothing,
    outgoingEnqueueCombi: nothing,
    outgoingUpdate: nothing,
    outgoingClearMessageId: nothing,
    outgoingStream: () => Readable.from([]),
    incomingStorePacket: nothing,
    incomingGetPacket: async (_client: object, packet: object) => packet,
    incomingDelPacket: async (client: Client, packet: { messageId: number }) => released(client, packet.messageId),
    putWill: nothing,
    delWill: nothing,
    streamWill: () => Readable.from([]),
  }
}

async function nothing(): Promise<void> {}

async function none(): Promise<[]> {
  return []
}
