import { expect, it } from 'vitest'
import { loadProtocols } from '../../../protocols/index.ts'
import {
  cut,
  DecodeError,
  decodeFrame,
  type HttpRequest,
  type Message,
  type Protocol,
  type Session,
  type Transport,
} from '../../../protocols/kit/index.ts'
import { Conversation } from '../../../src/gateway/conversation.ts'
import { Detector, likely } from '../../../src/gateway/wire/detect.ts'
import { casesOf } from '../../support/protocol-cases.ts'
import { newSession } from '../../support/rough.ts'
import { inEnglish } from '../../support/texts.ts'
import { thrown } from '../../support/thrown.ts'
import { vectorsOf } from '../../support/vectors/vectors.ts'
import { onWire } from '../../support/vectors/wire.ts'

/*
 * The first frame of every family, whole and cut at each byte, is offered to all families. It is never taken for another
 * family if it decides at once or its device is configured, nor if it is the whole frame of an unknown device.
 * `ALIKE` are the families that nothing tells apart.
 */

const all = await loadProtocols()
const protocols = all.filter(({ tcp }) => tcp)

/** Families whose frames are the same bytes: protocols/README.md lists them. */
const ALIKE: readonly (readonly string[])[] = [
  ['blackkite', 'galileo', 't622iridium'],
  ['gl200', 'gl601'],
  ['ardi01', 'avema', 'intellitrac', 'wondex'],
  // Datagrams and requests.
  ['enfora', 'sanav'],
  ['neos', 'tr900'],
  ['dragino', 'ttnhttp'],
]

const beginnings = await Promise.all(
  protocols.map(async (protocol) => ({ protocol, frames: (await firstFrames(protocol, 'tcp')).slice(0, 6) })),
)

it.each(beginnings.filter(({ frames }) => frames.length > 0).map((each) => [each.protocol.name, each] as const))(
  'takes no first frame of %s for another family, whole or cut at any byte',
  (name, { frames }) => {
    const mistakes = frames.flatMap(({ bytes, message }) => mistakesOf(name, bytes as Buffer, message))
    if (mistakes.length > 0) expect.fail([...new Set(mistakes)].join('\n'))
  },
)

it.each(['tcp', 'udp', 'http'] as const)(
  'takes no first frame of an unknown device over %s for another family',
  async (transport) => {
    const unconfigured = new Detector({ protocols: all, configured: () => undefined, onFault: thrown })
    const mistakes: string[] = []
    for (const protocol of all.filter((each) => each[transport]))
      for (const { bytes, message } of await firstFrames(protocol, transport)) {
        const { name } = protocol
        // A first datagram that names no device belongs to nobody, whatever it is taken for.
        if (transport === 'udp' && message.device === undefined) continue
        const [best] = likely(unconfigured.look({ bytes, transport, now: newSession().now }).found)
        if (best && !isAlike(name, best.protocol.name))
          mistakes.push(`${name} is taken for ${best.protocol.name} (${inEnglish(best.evidence).join(', ')})`)
      }
    if (mistakes.length > 0) expect.fail(mistakes.join('\n'))
  },
)

interface FirstFrame {
  readonly bytes: Buffer | HttpRequest
  readonly message: Message
}

/** Frames that begin a conversation: understood without anything before them, and either with a checksum or with a device. */
async function firstFrames(protocol: Protocol, transport: Transport): Promise<FirstFrame[]> {
  const { frames: own } = await casesOf(protocol.name)
  const sent = [
    ...own.flatMap((each) => (each.transport === 'mqtt' ? [] : [each.frames[0].frame])),
    ...vectorsOf(protocol.name).map((vector) => onWire(protocol, vector)),
  ]
  return sent.flatMap((frame) => {
    const bytes = typeof frame === 'string' ? Buffer.from(frame) : frame
    if (Buffer.isBuffer(bytes) === (transport === 'http')) return []
    const session = { ...newSession(), transport }
    const message = read(protocol, bytes, session)
    return message && (session.hasVerified || message.device !== undefined) ? [{ bytes, message }] : []
  })
}

/** What a first frame says; undefined if the decoder does not understand it, or the framer does not cut it whole. */
function read(protocol: Protocol, bytes: Buffer | HttpRequest, session: Session): Message | undefined {
  try {
    const isStream = Buffer.isBuffer(bytes) && session.transport === 'tcp'
    const [frame] = isStream && protocol.tcp ? cut(bytes, protocol.tcp.frame, session, 1).frames : [bytes]
    const message = frame && decodeFrame(protocol, frame, session)
    return message?.fixes || message?.none !== undefined ? message : undefined
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

/** The only configured device: that of the frame in question. */
let ours: string | undefined
const detector = new Detector({ protocols, configured: (id) => (id === ours ? '' : undefined), onFault: thrown })

function mistakesOf(name: string, bytes: Buffer, { device }: Message): string[] {
  ours = device
  const mistakes: string[] = []
  for (let end = 1; end <= bytes.length; end++) {
    const isWhole = end === bytes.length
    const { found } = detector.look({ bytes: bytes.subarray(0, end), transport: 'tcp', now: newSession().now })
    const [alone] = likely(found)
    const [best] = detector.ranked(found, new Conversation('tcp', ''))
    const taken = [...(alone?.isSure ? [alone, best] : []), ...(best && isWhole ? [best] : [])]
    for (const { evidence, protocol } of taken)
      if (!isAlike(name, protocol.name))
        mistakes.push(`${name} is taken for ${protocol.name} (${inEnglish(evidence).join(', ')}): ${shown(bytes, end)}`)
    if (isWhole && !best) mistakes.push(`${name} is not found: ${shown(bytes, end)}`)
  }
  return mistakes
}

function isAlike(one: string, other: string): boolean {
  return one === other || ALIKE.some((names) => names.includes(one) && names.includes(other))
}

function shown(bytes: Buffer, end: number): string {
  return `${Math.min(end, bytes.length)} of ${bytes.length} bytes, ${bytes.toString('hex', 0, 80)} ${bytes.toString('latin1', 0, 60).replace(/[^ -~]/g, '.')}`
}
