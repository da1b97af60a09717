/** A packet is longer than it may be, or its length has more than four bytes. */
export type PacketFault = 'frame_too_long' | 'malformed_packet'

type MaxLength = (packet: number, type: number) => number

/**
 * Follows the packets of an MQTT stream by their fixed headers, to know the length of each before the broker buffers it.
 *
 *   TT LL…  body      L  remaining length, 1 to 4 bytes of 7 bits, least significant first; top bit: another byte follows
 */
export class PacketFollower {
  /** Packets begun so far. */
  begun = 0
  /** Bytes that have arrived of the packet that is not complete; 0 between packets. */
  arrived = 0
  /**
   * For the last call: bytes that were followed, how many of them are to be passed on, and complete packets, of which a SUBSCRIBE
   * and an UNSUBSCRIBE weigh as many as `SUBSCRIBE_WEIGHT`.
   */
  followed = 0
  passed = 0
  packets = 0
  /** Bytes of its body that are missing. */
  #missing = 0
  /** Bytes of the fixed header that have arrived; 0: the header is complete, or has not begun. */
  #header = 0
  #type = 0
  #length = 0

  /**
   * Follows the next bytes of the stream, until `most` packets are complete. `maxLength`: how many bytes may follow the
   * fixed header of the nth packet, of a type (3 is PUBLISH). A run of PINGREQ counts as one, and only its first is
   * passed on: the others are removed from `bytes`, so that the first `passed` bytes are what the broker gets.
   */
  follow(bytes: Buffer, maxLength: MaxLength, most = Number.POSITIVE_INFINITY): PacketFault | undefined {
    this.passed = 0
    this.packets = 0
    let begin = -1
    let isAfterPing = false
    let at = 0
    while (at < bytes.length && this.packets < most) {
      const from = at
      if (this.#missing > 0) {
        const here = Math.min(this.#missing, bytes.length - at)
        at += here
        this.#missing -= here
        this.arrived += here
      } else {
        if (this.#header === 0) begin = at
        const fault = this.#readHeader(bytes[at++], maxLength)
        if (fault) return fault
      }
      if (this.passed < from) bytes.copyWithin(this.passed, from, at)
      this.passed += at - from
      if (this.#missing > 0 || this.#header > 0) continue
      this.arrived = 0
      const isPing = this.#type === PINGREQ && begin === at - 2
      if (isPing && isAfterPing) this.passed -= 2
      else this.packets += isSubscription(this.#type) ? SUBSCRIBE_WEIGHT : 1
      isAfterPing = isPing
    }
    this.followed = at
    return undefined
  }

  #readHeader(byte: number, maxLength: MaxLength): PacketFault | undefined {
    this.arrived++
    if (this.#header++ === 0) {
      this.begun++
      this.#type = byte
      this.#length = 0
      return undefined
    }
    this.#length += (byte & 0x7f) * 128 ** (this.#header - 2)
    if (this.#length > maxLength(this.begun, this.#type >> 4)) return 'frame_too_long'
    if (byte >= 0x80) return this.#header > 4 ? 'malformed_packet' : undefined
    this.#missing = this.#length
    this.#header = 0
    return undefined
  }
}

function isSubscription(type: number): boolean {
  return type >> 4 === SUBSCRIBE || type >> 4 === UNSUBSCRIBE
}

const [SUBSCRIBE, UNSUBSCRIBE] = [8, 10]
/**
 * A SUBSCRIBE costs the broker as much as a hundred pings. With a weight of a hundred, a client that sends two with its
 * CONNECT would exceed its burst.
 */
const SUBSCRIBE_WEIGHT = 30
const PINGREQ = 0xc0
