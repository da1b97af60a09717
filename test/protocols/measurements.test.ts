import { expect, it } from 'vitest'
import { loadProtocols } from '../../protocols/index.ts'
import { decodeFrame, type Fix, type HttpRequest, type Message, type Protocol } from '../../protocols/kit/index.ts'
import { type KnownFrame, knownFrames } from '../support/known-frames.ts'
import { casesOf } from '../support/protocol-cases.ts'
import { reasonOf } from '../support/rough.ts'

const BAD = ['NaN', 'null', '-']
const BAD_IN_JSON = ['NaN', 'null', '"5m"']
/** Binary texts are skipped: a change would make their length fields wrong. */
// oxlint-disable-next-line no-control-regex
const BINARY = /[\0-\x08\x0e-\x1f\x7f-\xff]/
/** A number that is a whole value of JSON, of a parameter, of XML or between separators. */
const NUMBER = /(?<=[:=>,;|]\s*"?)[-+]?\d+(?:\.\d+)?(?=\s*"?(?:[,;|&<}\]*#!\s]|$))/g

/** Protocols that do not recognise a line if a number has another form. */
const OF_A_FORM: ReadonlyMap<string, string> = new Map([
  ['dway', 'a blank in front of the speed is a part of the number'],
  ['easytrack', 'fields of hexadecimal digits'],
  ['supermate', 'fields of hexadecimal digits'],
])

for (const protocol of await loadProtocols()) {
  const cases = await casesOf(protocol.name)
  const broken = knownFrames(protocol, cases).flatMap((known) => brokenMeasurements(protocol, known))
  if (broken.length > 0 && !OF_A_FORM.has(protocol.name))
    it(`${protocol.name} keeps a fix if one of its measurements is no number`, () => {
      expect(broken.filter(({ isLost }) => isLost).map(({ name }) => name)).toEqual([])
    })
}

/** Replaces each measurement of a known frame with each bad value, and returns whether that loses the fix. */
function brokenMeasurements(
  protocol: Protocol,
  known: KnownFrame,
): { readonly name: string; readonly isLost: boolean }[] {
  const text = textOf(known.frame)
  const read = (changed: string) => fixesOf(protocol, { ...known, frame: rebuilt(known.frame, changed) })
  const whole = read(text)
  if (!whole || text.length > 5000 || BINARY.test(text)) return []
  return [...text.matchAll(NUMBER)].flatMap(({ 0: digits, index }) => {
    const put = (value: string) => text.slice(0, index) + value + text.slice(index + digits.length)
    if (!isMeasurement(whole, read(put(otherThan(digits))))) return []
    // JSON inside a JSON string has escaped quotes.
    const [colon, escape] = /(\\?)"\s*:\s*$/.exec(text.slice(0, index)) ?? []
    return (colon === undefined ? BAD : BAD_IN_JSON).map((bad) => {
      const name = `${known.name}: ${bad} for ${digits} at ${index}`
      return { name, isLost: placesOf(read(put(bad.replaceAll('"', `${escape}"`)))) !== placesOf(whole) }
    })
  })
}

/** Returns true if another number changes only a measurement. */
function isMeasurement(before: readonly Fix[], after: readonly Fix[] | undefined): boolean {
  const isSame = placesOf(before) === placesOf(after) && before.every(({ valid }, i) => valid === after?.[i].valid)
  return isSame && JSON.stringify(before) !== JSON.stringify(after)
}

/** Leaves out `valid`, which some decoders derive from the number of satellites. */
function placesOf(fixes: readonly Fix[] | undefined): string {
  return JSON.stringify(fixes?.map(({ device, time, latitude, longitude }) => [device, time, latitude, longitude]))
}

function fixesOf(protocol: Protocol, { frame, session }: KnownFrame): readonly Fix[] | undefined {
  let read: Message = {}
  reasonOf(() => (read = decodeFrame(protocol, frame, Object.assign(session(), { lenient: true }))))
  return read.fixes?.length ? read.fixes : undefined
}

/** Returns the digits with a different last digit. */
function otherThan(digits: string): string {
  return `${digits.slice(0, -1)}${digits.at(-1) === '1' ? 2 : 1}`
}

function textOf(frame: Buffer | HttpRequest): string {
  return Buffer.isBuffer(frame) ? frame.toString('latin1') : `${frame.uri}\n${frame.body.toString('latin1')}`
}

function rebuilt(frame: Buffer | HttpRequest, text: string): Buffer | HttpRequest {
  if (Buffer.isBuffer(frame)) return Buffer.from(text, 'latin1')
  const end = text.indexOf('\n')
  return { ...frame, uri: text.slice(0, end), body: Buffer.from(text.slice(end + 1), 'latin1') }
}
