import { describe, expect, it } from 'vitest'
import { loadProtocols } from '../../protocols/index.ts'
import {
  cut,
  DecodeError,
  type HttpRequest,
  isEndless,
  type Message,
  type Protocol,
  repliesOf,
  type Session,
} from '../../protocols/kit/index.ts'
import { doubtOf } from '../../src/gateway/outcome.ts'
import { BINARY } from '../support/counted/binary.ts'
import { bufferOf, type CountedLayout, type Place, placesOf } from '../support/counted/layout.ts'
import { TEXT } from '../support/counted/text.ts'
import { heard, sessionOf } from '../support/own-frames.ts'
import { ARRIVED } from '../support/vectors/vectors.ts'

/**
 * Layouts with a number of records, written by our own encoders. Frames with 0, 1, 2 and many records give all fixes with
 * their places and times, and the right answer; an unreadable record does not lose the others.
 */
const protocols = new Map((await loadProtocols()).map((protocol) => [protocol.name, protocol]))

describe.each([...BINARY, ...TEXT].map((each) => [titleOf(each), each] as const))('%s', (_, layout) => {
  const { most, never0, broken, isUntimed } = layout
  const wanted = (place: Place) => placeOf(isUntimed ? { ...place, time: ARRIVED } : place)
  const counts = [...(never0 === undefined ? [0] : []), 1, 2, most]

  it.each(counts)('reads a frame of %i records', (count) => {
    const places = placesOf(count)
    const { message, isRefused, replies, frame } = read(layout, places.map(layout.record))
    expect(isRefused).toBe(false)
    expect(placesIn(message)).toEqual(places.map(wanted))
    expect([message.unreadable, message.none === undefined]).toEqual([undefined, count > 0])
    expect(replies).toEqual(answerTo(layout, count, frame))
  })

  if (!broken) return

  it('leaves out a record that cannot be read, and reads the others', () => {
    const places = placesOf(4)
    const records = places.map((place) => (place.index === 1 ? broken(place) : layout.record(place)))
    const { message, replies } = read(layout, records)
    expect(placesIn(message)).toEqual(places.filter(({ index }) => index !== 1).map(wanted))
    expect([message.unreadable, replies.length > 0]).toEqual([[1], layout.answer !== undefined])
  })

  it('refuses or keeps a frame without a readable record, and answers it', () => {
    const { message, isRefused, replies } = read(layout, placesOf(2).map(broken))
    expect(placesIn(message)).toEqual([])
    expect([isRefused || doubtOf(message) !== undefined, replies.length > 0]).toEqual([
      true,
      layout.answer !== undefined,
    ])
  })
})

function titleOf({ protocol, layout }: CountedLayout): string {
  return layout === undefined ? protocol : `${protocol}, ${layout}`
}

/** Returns what a frame says after the frames before it. A datagram may hold several frames. */
function read(layout: CountedLayout, records: readonly Parameters<typeof bufferOf>[0][]) {
  const protocol = protocols.get(layout.protocol) as Protocol
  const session = sessionOf(protocol, { title: '', frames: [], ...layout })
  for (const login of (layout.before ?? []).map(bufferOf)) {
    framed(protocol, login, session)
    expect(heard(protocol, login, session)).not.toBeInstanceOf(DecodeError)
  }
  const made = layout.frame(records.map(bufferOf))
  const frame = isRequest(made) ? made : bufferOf(made)
  const said = framed(protocol, frame, session).map((each) => heard(protocol, each, session))
  const messages = said.map((each): Message => (each instanceof DecodeError ? (each.envelope ?? {}) : each))
  return {
    message: { ...messages[0], ...(messages.length > 1 && { fixes: messages.flatMap(({ fixes = [] }) => fixes) }) },
    isRefused: said.some((each) => each instanceof DecodeError),
    replies: messages.flatMap(({ reply }) => repliesOf(reply).map(shown)),
    frame: Buffer.isBuffer(frame) ? frame : frame.body,
  }
}

function isRequest(made: ReturnType<CountedLayout['frame']>): made is HttpRequest {
  return typeof made === 'object' && 'uri' in made
}

/** Returns the frames of a datagram, or else the frame itself, which the framer of a stream must cut as one. */
function framed(protocol: Protocol, frame: Buffer | HttpRequest, session: Session): readonly (Buffer | HttpRequest)[] {
  if (!Buffer.isBuffer(frame)) return [frame]
  const framer = session.transport === 'tcp' ? protocol.tcp?.frame : session.transport === 'udp' && protocol.udp?.frame
  if (!framer || isEndless(framer)) return [frame]
  if (session.transport === 'udp') return cut(frame, framer, session).frames
  expect(framer(frame, session)).toBe(frame.length)
  return [frame]
}

/** To 1/1,000 degree. */
function placesIn({ fixes = [] }: Message) {
  return fixes.map(placeOf)
}

function placeOf({ time, latitude, longitude }: Pick<Place, 'time' | 'latitude' | 'longitude'>) {
  return [new Date(time).toISOString(), latitude.toFixed(3), longitude.toFixed(3)]
}

function answerTo({ answer }: CountedLayout, count: number, frame: Buffer): string[] {
  const wanted = answer?.(count, frame) ?? []
  const list = Array.isArray(wanted) ? wanted : [wanted]
  return list.map((each) => shown(bufferOf(each)))
}

function shown(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString('latin1')
  return /^[\n\r -~]*$/.test(text) ? text : Buffer.from(bytes).toString('hex')
}
