import { expect, it } from 'vitest'
import { loadProtocols } from '../../protocols/index.ts'
import { decodeFrame, type HttpRequest, type Message, type Protocol } from '../../protocols/kit/index.ts'
import { continued } from '../support/conversation.ts'
import { gateway } from '../support/ingest.ts'
import { type KnownFrame, knownFrames } from '../support/known-frames.ts'
import { casesOf } from '../support/protocol-cases.ts'
import { reasonOf } from '../support/rough.ts'

/** Other names for the angles that a decoder knows. */
const OTHER_NAMES: Readonly<Record<string, (name: string) => string>> = {
  'with a prefix': (name) => `best_${name}`,
  'with a suffix': (name) => `${name}Deg`,
  'in Spanish': (name) => (/lat/i.test(name) ? 'Latitud' : 'Longitud'),
  'within other words': (name) => `vehicle.gps.${name}.now`,
}
/** Names of an angle in JSON, parameters or XML. */
const ANGLE_NAME = /(?<=["'?&<./])(?:lat|lon|lng|long|latitude|longitude)(?=["'=>])/gi

for (const protocol of await loadProtocols()) {
  const known = knownFrames(protocol, await casesOf(protocol.name)).filter((each) => hasNames(protocol, each))
  if (known.length > 0)
    it.each(Object.entries(OTHER_NAMES))(
      `${protocol.name} keeps or refuses a place under names that it does not know: %s`,
      async (_, rename) => {
        const wrong = await Promise.all(known.map((each) => answeredAndDropped(protocol, each, rename)))
        expect(wrong.filter((name) => name !== undefined)).toEqual([])
      },
    )
}

/** Returns true if the decoder finds fixes of a frame by name; at 0, 0 a device has no fix. */
function hasNames(protocol: Protocol, { frame, session }: KnownFrame): boolean {
  let read: Message = {}
  reasonOf(() => (read = decodeFrame(protocol, frame, session())))
  const isPlaced = read.fixes?.some(({ latitude, longitude }) => latitude !== 0 || longitude !== 0)
  return isPlaced === true && textOf(frame).search(ANGLE_NAME) >= 0
}

/** Returns the name of a frame that is answered although nothing of it is stored, counted or kept. */
async function answeredAndDropped(protocol: Protocol, known: KnownFrame, rename: (name: string) => string) {
  const { counted, frames, ingest, stored } = await gateway({ hold: { unknown: true }, maxUnknownDevices: 1_000_000 })
  const session = continued(known.session())
  const outcome = await ingest.take(renamed(known.frame, rename), session, protocol)
  return outcome.status === 'stored' && stored.length + counted.length + frames.length === 0 ? known.name : undefined
}

function textOf(frame: Buffer | HttpRequest): string {
  return Buffer.isBuffer(frame) ? frame.toString('latin1') : `${frame.uri}\n${frame.body.toString('latin1')}`
}

function renamed(frame: Buffer | HttpRequest, rename: (name: string) => string): Buffer | HttpRequest {
  const of = (text: string) => text.replace(ANGLE_NAME, rename)
  if (Buffer.isBuffer(frame)) return Buffer.from(of(frame.toString('latin1')), 'latin1')
  return { ...frame, uri: of(frame.uri), body: Buffer.from(of(frame.body.toString('latin1')), 'latin1') }
}
