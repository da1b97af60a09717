import type { Fix } from '../../../protocols/kit/index.ts'

/** How trackers of one kind send fixes: pure functions from fixes to bytes. */
export type Speech = StreamSpeech | DatagramSpeech | HttpSpeech | MqttSpeech

interface CommonSpeech {
  /** `teltonika`, or `teltonika-udp` if a protocol has several. */
  readonly name: string
  /** The name in protocols/index.ts. */
  readonly protocol: string
  /** The most fixes of one packet. */
  readonly maxFixes: number
  /** How many of the last digits of its IMEI are a device's id; default: all 15. */
  readonly idDigits?: number
}

/** Bytes to send, and how to recognise their acknowledgement. */
export interface Packet {
  readonly bytes: Buffer
  /**
   * Returns true: the whole packet is accepted; false: it is refused; undefined: this is not its answer. Absent if the
   * protocol does not answer packets: they then count as accepted once written.
   */
  readonly accepted?: (answer: Buffer) => boolean | undefined
}

/** The device of a packet, and the packet's number on its connection, from 1 on. */
export interface PacketSender {
  readonly id: string
  readonly serial: number
}

/** Over TCP: a login, if the protocol has one, then packet by packet. */
export interface StreamSpeech extends CommonSpeech {
  readonly transport: 'tcp'
  readonly login?: (id: string) => Packet
  readonly packet: (fixes: readonly Fix[], sender: PacketSender) => Packet
  /** Returns the length of the first answer in the stream of answers; 0 if it is incomplete. */
  readonly answers: (bytes: Buffer) => number
  /** The protocol answers no fixes. */
  readonly isUnanswered?: true
}

/** Over UDP: each datagram holds one packet, or one answer. */
export interface DatagramSpeech extends CommonSpeech {
  readonly transport: 'udp'
  readonly packet: (fixes: readonly Fix[], sender: PacketSender) => Packet
}

/** Over HTTP: a GET a packet; status 200 accepts it. */
export interface HttpSpeech extends CommonSpeech {
  readonly transport: 'http'
  /** Path and query. */
  readonly path: (fixes: readonly Fix[], id: string) => string
}

/** Over MQTT: a publication with QoS 1 a packet; PUBACK accepts it. */
export interface MqttSpeech extends CommonSpeech {
  readonly transport: 'mqtt'
  readonly topic: (id: string) => string
  readonly payload: (fixes: readonly Fix[]) => string
}
