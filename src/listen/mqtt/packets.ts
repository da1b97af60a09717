/**
 * Follows the packets of an MQTT stream by their fixed headers alone, to know how long each is before anybody buffers it.
 *
 *   TT LL…  body      L  remaining length, 1 to 4 bytes of 7 bits, least significant first, the top bit: one more follows
 */
export interface Packets {
  /** Packets begun so far. */
  begun: number
  /** Bytes of the packet that is not complete yet that have arrived; 0 between packets. */
  arrived: number
  /** Bytes of its body that are still to come. */
  missing: number
  /** Bytes of its fixed header so far; 0: the header is complete, or there is none. */
  header: number
  length: number
}

/** What is wrong with a stream: a packet is longer than it may be, or its length has more than four bytes. */
export type PacketFault = 'frame_too_long' | 'malformed_packet'

export function createPackets(): Packets {
  return { begun: 0, arrived: 0, missing: 0, header: 0, length: 0 }
}

/** Takes note of the next bytes of the stream. `longest`: how many bytes may remain after the header of the nth packet. */
export function follow(packets: Packets, bytes: Buffer, longest: (packet: number) => number): PacketFault | undefined {
  for (let at = 0; at < bytes.length; ) {
    if (packets.missing > 0) {
      const here = Math.min(packets.missing, bytes.length - at)
      at += here
      packets.missing -= here
      packets.arrived += here
    } else {
      const fault = readHeader(packets, bytes[at++], longest)
      if (fault) return fault
    }
    if (packets.missing === 0 && packets.header === 0) packets.arrived = 0
  }
  return undefined
}

function readHeader(packets: Packets, byte: number, longest: (packet: number) => number): PacketFault | undefined {
  packets.arrived++
  if (packets.header++ === 0) {
    packets.begun++
    packets.length = 0
    return undefined
  }
  packets.length += (byte & 0x7f) * 128 ** (packets.header - 2)
  if (packets.length > longest(packets.begun)) return 'frame_too_long'
  if (byte < 0x80) {
    packets.missing = packets.length
    packets.header = 0
    return undefined
  }
  return packets.header > 4 ? 'malformed_packet' : undefined
}
