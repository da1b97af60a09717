import { dial, type Peer } from './listen.ts'

interface Connect {
  readonly user: string
  readonly password?: string
  readonly clientId?: string
  readonly clean?: boolean
  readonly version?: 3 | 4 | 5
}

interface Publish {
  readonly topic: string
  readonly payload: string | Buffer
  readonly qos: 0 | 1 | 2
  readonly messageId?: number
  readonly dup?: boolean
}

/** A CONNECT without keep alive, of MQTT 3.1.1 where nothing else is said. */
export function connect({ user, password, clientId = 'raw', clean = true, version = 4 }: Connect): Buffer {
  const flags = 0x80 | (password === undefined ? 0 : 0x40) | (clean ? 0x02 : 0)
  const properties = version === 5 ? Buffer.of(0) : Buffer.alloc(0)
  return packet(
    0x10,
    text(version === 3 ? 'MQIsdp' : 'MQTT'),
    Buffer.of(version, flags, 0, 0),
    properties,
    text(clientId),
    text(user),
    ...(password === undefined ? [] : [text(password)]),
  )
}

export function publish({ topic, payload, qos, messageId = 1, dup = false }: Publish): Buffer {
  const head = 0x30 | (dup ? 8 : 0) | (qos << 1)
  return packet(head, text(topic), qos === 0 ? Buffer.alloc(0) : u16(messageId), Buffer.from(payload))
}

export function pubrel(messageId: number): Buffer {
  return packet(0x62, u16(messageId))
}

/** A connection on which bytes are written by hand. */
export async function raw(port: number, from?: string): Promise<Peer & { readonly hex: string }> {
  const peer = await dial(port, from)
  return Object.defineProperty(peer, 'hex', {
    get: () => Buffer.from(peer.heard, 'latin1').toString('hex'),
  }) as Peer & {
    hex: string
  }
}

/** CONNACK, PUBACK, PUBREC and PUBCOMP as they are heard. */
export const connack = (returnCode: number) => `2002000${returnCode}`
export const puback = (messageId: number) => `4002${u16(messageId).toString('hex')}`
export const pubrec = (messageId: number) => `5002${u16(messageId).toString('hex')}`
export const pubcomp = (messageId: number) => `7002${u16(messageId).toString('hex')}`

function packet(head: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  const length: number[] = []
  for (let left = body.length; length.length === 0 || left > 0; left >>>= 7)
    length.push((left & 0x7f) | (left > 0x7f ? 0x80 : 0))
  return Buffer.concat([Buffer.of(head, ...length), body])
}

function text(value: string): Buffer {
  return Buffer.concat([u16(Buffer.byteLength(value)), Buffer.from(value)])
}

function u16(value: number): Buffer {
  return Buffer.of(value >> 8, value & 0xff)
}
