import type { Conversation } from './conversation.ts'

/*
 * What a session carries on the air: the bytes that come and go, and an estimate of what is below them, over IPv4.
 *
 *   UDP   28 bytes of UDP and IP a datagram
 *   TCP   40 bytes of TCP and IP a segment of at most 1,400 bytes. What arrives has one acknowledgement, and so has an answer,
 *         which acknowledges what arrived. A connection begins and ends with eight segments more
 *   TLS   the bytes of the handshake, counted, with the segments of it; 26 bytes a record
 */

/** Counts the beginning of a session's connection. */
export function connectionBegan(session: Conversation): void {
  const { handshakeBytes } = session
  const handshake = handshakeBytes === undefined ? 0 : handshakeBytes + HANDSHAKE_SEGMENTS * SEGMENT_BYTES
  session.carries(CONNECTION_BYTES + handshake, 1)
}

/** Bytes have arrived at once. */
export function bytesReceived(session: Conversation, bytes: number): void {
  session.carries(withHeaders(session, bytes) + (session.transport === 'udp' ? 0 : SEGMENT_BYTES))
}

/** Bytes are written at once. */
export function bytesSent(session: Conversation, bytes: number): void {
  if (bytes > 0) session.carries(withHeaders(session, bytes))
}

function withHeaders({ handshakeBytes, transport }: Conversation, bytes: number): number {
  if (transport === 'udp') return bytes + DATAGRAM_BYTES
  const length = handshakeBytes === undefined ? bytes : bytes + RECORD_BYTES
  return length + Math.ceil(length / MOST_SEGMENT_BYTES) * SEGMENT_BYTES
}

const DATAGRAM_BYTES = 28
const SEGMENT_BYTES = 40
const MOST_SEGMENT_BYTES = 1400
const CONNECTION_BYTES = 8 * SEGMENT_BYTES
const HANDSHAKE_SEGMENTS = 8
const RECORD_BYTES = 26
