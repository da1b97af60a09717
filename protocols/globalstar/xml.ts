import {
  alarmsOf,
  ByteReader,
  DecodeError,
  eachReadable,
  entriesMessage,
  type Fix,
  type Message,
  number,
  said,
  unixTime,
  xmlElements,
  xmlText,
} from '../kit/index.ts'

/** What a `<stuMessages>` says, with its answer. `now`: ms. @throws DecodeError `unsupported`, `malformed` */
export function xmlMessage(text: string, now: number): Message {
  const id = /<stuMessages\s[^<>]{0,2000}?messageID="([^"<>&]{0,100})"/.exec(text)?.[1]
  if (id === undefined) throw new DecodeError('unsupported', 'the body has no <stuMessages>')
  const { good, unreadable } = eachReadable(xmlElements(text, 'stuMessage'), xmlEntry)
  const isKnown = good.every(({ fix, none }) => fix !== undefined || none !== undefined)
  const message = entriesMessage(good, isKnown ? (good[0]?.none ?? 'no place') : undefined)
  return { ...message, unreadable, response: passed(id, now) }
}

/** What one element says. Without `fix` and `none` its payload is not known. */
interface Entry {
  readonly device: string
  readonly fix?: Fix
  readonly none?: string
}

const [REPLACE_BATTERY, HAS_NO_FIX] = [0x04, 0x08]
const IS_MOVING = 0x40

function xmlEntry(xml: string): Entry {
  const device = xmlText(xml, 'esn')
  if (device === '') throw new DecodeError('malformed', 'esn is missing')
  const time = unixTime(number(xmlText(xml, 'unixTime')))
  const [payload = ''] = xmlElements(xml, 'payload')
  const r = new ByteReader(Buffer.from(payload.trim().replace(/^0x/i, ''), 'hex'))
  const flags = r.u8()
  if ((flags & 3) === 3) return { device, none: 'status' }
  if ((flags & 3) !== 0) return { device }
  const latitude = (r.i24() * 90) / 2 ** 23
  const longitude = (r.i24() * 180) / 2 ** 23
  const beside = { moving: r.left < 2 ? undefined : (r.skip(1).u8() & IS_MOVING) !== 0 }
  const alarms = alarmsOf((flags & REPLACE_BATTERY) !== 0 && 'low_battery')
  const fix = { time, latitude, longitude, valid: (flags & HAS_NO_FIX) === 0, said: said({ ...beside, alarms }) }
  return { device, fix }
}

function passed(id: string, now: number): Message['response'] {
  const at = new Date(now).toISOString()
  const time = `${at.slice(8, 10)}/${at.slice(5, 7)}/${at.slice(0, 4)} ${at.slice(11, 19)} UTC`
  const attributes = [
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"',
    `correlationID="${id}"`,
    `deliveryTimeStamp="${time}"`,
    `messageID="${'0'.repeat(32)}"`,
    'xsi:noNamespaceSchemaLocation="http://cody.glpconnect.com/XSD/StuResponse_Rev1_0.xsd"',
  ]
  const content = '<state>pass</state><stateMessage>Store OK</stateMessage>'
  return {
    headers: { 'content-type': 'text/xml' },
    body: `<?xml version="1.0" encoding="UTF-8" standalone="no"?><stuResponseMsg ${attributes.join(' ')}>${content}</stuResponseMsg>`,
  }
}
