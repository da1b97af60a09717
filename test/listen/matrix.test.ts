import { describe, expect, it } from 'vitest'
import { loadProtocols } from '../../protocols/index.ts'
import { DecodeError, type Message, type Protocol } from '../../protocols/kit/index.ts'
import { Detector } from '../../src/listen/detect.ts'
import { casesOf } from '../support/protocol-cases.ts'
import { newSession } from '../support/rough.ts'
import { vectorsOf } from '../support/vectors/vectors.ts'
import { onWire } from '../support/vectors/wire.ts'

/*
 * The first frame of every family, whole and cut at each byte, is offered to all families: where it has a checksum or its
 * device is configured, it is never taken for another family. Nor is the whole frame of a device that nobody has configured.
 * `ALIKE` are the families that nothing tells apart.
 */

const protocols = (await loadProtocols()).filter(({ tcp }) => tcp)

/** Families whose frames are the same bytes: protocols/README.md lists them. */
const ALIKE: readonly (readonly string[])[] = [
  ['blackkite', 'galileo', 't622iridium'],
  ['gl200', 'gl601'],
  ['ardi01', 'avema', 'intellitrac', 'wondex'],
]

const beginnings = await Promise.all(
  protocols.map(async (protocol) => ({ protocol, frames: (await firstFrames(protocol)).slice(0, 6) })),
)

describe('the first frame of a conversation', () => {
  it.each(beginnings.filter(({ frames }) => frames.length > 0).map((each) => [each.protocol.name, each] as const))(
    'of %s is not taken for another family',
    (name, { frames }) => {
      const mistakes = frames.flatMap(({ bytes, message }) => mistakesOf(name, bytes, message))
      if (mistakes.length > 0) expect.fail([...new Set(mistakes)].join('\n'))
    },
  )

  it('of a device that nobody has configured is not taken for another family', () => {
    const detector = new Detector({ protocols, configured: () => undefined })
    const mistakes = beginnings.flatMap(({ protocol: { name }, frames }) =>
      frames.flatMap(({ bytes }) => {
        const { guesses } = detector.look({ bytes, transport: 'tcp', now: newSession().now })
        const [best] = guesses
        return best && !isAlike(name, best.protocol.name)
          ? [`${name} is taken for ${best.protocol.name} (${best.evidence.join(', ')}): ${shown(bytes, bytes.length)}`]
          : []
      }),
    )
    if (mistakes.length > 0) expect.fail(mistakes.join('\n'))
  })
})

interface FirstFrame {
  readonly bytes: Buffer
  readonly message: Message
}

/** Frames that begin a conversation: understood without anything before them, and either with a checksum or with a device. */
async function firstFrames(protocol: Protocol): Promise<FirstFrame[]> {
  const { frames: own } = await casesOf(protocol.name)
  const sent = [
    ...own.filter(({ transport = 'tcp' }) => transport === 'tcp').map(({ frames }) => toBytes(frames[0].frame)),
    ...vectorsOf(protocol.name).map((vector) => toBytes(onWire(protocol, vector))),
  ]
  return sent.flatMap((bytes) => {
    const session = newSession()
    const message = bytes && read(protocol, bytes, session)
    return message && (session.hasVerified || message.device !== undefined) ? [{ bytes, message }] : []
  })
}

function toBytes(frame: unknown): Buffer | undefined {
  return typeof frame === 'string' ? Buffer.from(frame) : Buffer.isBuffer(frame) ? frame : undefined
}

/** What a first frame says; undefined where the decoder does not understand it, or the framer does not cut it whole. */
function read(protocol: Protocol, bytes: Buffer, session: ReturnType<typeof newSession>): Message | undefined {
  try {
    const length = protocol.tcp?.frame(bytes, session) ?? 0
    const message = length > 0 ? protocol.decode?.(bytes.subarray(0, length), session) : undefined
    return message?.fixes || message?.none !== undefined ? message : undefined
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

function mistakesOf(name: string, bytes: Buffer, { device }: Message): string[] {
  const detector = new Detector({ protocols, configured: (id) => (id === device ? '' : undefined) })
  const mistakes: string[] = []
  for (let end = 1; end <= bytes.length; end++) {
    const isWhole = end === bytes.length
    const { guesses } = detector.look({ bytes: bytes.subarray(0, end), transport: 'tcp', now: newSession().now })
    const [best] = guesses
    if (best && (best.isSure || isWhole) && !isAlike(name, best.protocol.name))
      mistakes.push(`${name} is taken for ${best.protocol.name} (${best.evidence.join(', ')}): ${shown(bytes, end)}`)
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
