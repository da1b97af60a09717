/*
 * ERM StarLink trackers. No specification is public; fields and their names as in flespi.com/protocols/erm. TCP, text:
 *
 *   $SLUI,06,n,v,v,v,…*XX        event: values in the order in which the device is configured
 *   $SLUI,k,n,…*XX               other types: none is understood
 *
 *   I  id     n  number     k  type     X  sum of the characters between $ and *
 *
 * The setting `format` is the device's event structure (parameter 0177), as in #EDT#,#EID#,#PDT#,#LAT#,#LONG#,#SPD#,#HEAD#:
 *
 *   PDT, EDT  YYMMDDhhmmss of the position, of the event     SPD, SPDK  knots, km/h     ALT   metres
 *   LAT, LONG  ±ddmm.mmmm, ±dddmm.mmmm                       HEAD       degrees         SATU  satellites used
 *
 * A time may lack its seconds. Without the setting, only PDT, LAT and LONG are read, and only where they follow each other: the
 * other fields do not show what they are. Nothing is answered.
 */
import {
  DecodeError,
  degreesMinutes,
  drawn,
  type Fix,
  heading,
  kmh,
  knots,
  known,
  line,
  type Message,
  number,
  type Protocol,
  type Session,
  type Settings,
  sum8,
  utcYmd,
  verify,
} from '../kit/index.ts'

export default {
  name: 'starlink',
  devices: 'ERM StarLink Tracker, Asset, Key, Personal and others',
  integrity: { checksum: 'sum8', covers: (frame) => [1, frame.lastIndexOf('*')] },
  tcp: { port: 5136, frame: line },
  decode,
} satisfies Protocol

const EVENT = drawn('$SLU{id},06,{any},{values}', { fields: { values: {} } })
const PLACE = /(?:^|,)(\d{10}|\d{12}),([-+]\d{4}\.\d{1,6}),([-+]\d{5}\.\d{1,6})(?:,|$)/
const OTHER = drawn('$SLU{id},{any}')

function decode(frame: Buffer, session: Session): Message {
  const text = checked(frame, session)
  const event = EVENT.match(text, session)
  if (!event) {
    const other = OTHER.match(text, session)
    if (!other) throw new DecodeError('unsupported')
    return { device: other.device }
  }
  const { device } = event
  const settings = session.settingsOf(device)
  const { format } = settings
  if (typeof format !== 'string') {
    const [, PDT, LAT, LONG] = PLACE.exec(event.text('values')) ?? []
    const fix = fixOf((name) => ({ PDT, LAT, LONG })[name], session)
    return { device, fixes: fix ? [fix] : [] }
  }
  const values = event.text('values').split(',')
  const indexes = indexesOf(format, settings)
  const fix = fixOf((name) => values[indexes.get(name) ?? -1]?.trim() || undefined, session)
  return fix ? { device, fixes: [fix] } : { device, none: 'no place' }
}

/** Where each value of a format stands. */
function indexesOf(format: string, settings: Settings): ReadonlyMap<string, number> {
  let indexes = formats.get(settings)
  if (!indexes) {
    const names = format.replaceAll('#', '').split(',')
    formats.set(settings, (indexes = new Map(names.map((name, index) => [name.trim(), index]))))
  }
  return indexes
}

/** By the settings that they stand in, which are read again and again. */
const formats = new WeakMap<Settings, ReadonlyMap<string, number>>()

/** The text in front of the checksum. @throws DecodeError */
function checked(frame: Buffer, session: Session): string {
  const star = frame.lastIndexOf('*')
  if (star < 0) throw new DecodeError('truncated')
  const sum = Number.parseInt(frame.toString('latin1', star + 1), 16)
  verify(sum === sum8(frame.subarray(1, star)), session)
  return frame.toString('latin1', 0, star)
}

const NUMBER = /^[-+]?\d*\.?\d+$/

function fixOf(textOf: (name: string) => string | undefined, { now }: Session): Fix | undefined {
  const valueOf = (name: string) => {
    const value = textOf(name)
    return value === undefined || !NUMBER.test(value) ? undefined : number(value)
  }
  const latitude = valueOf('LAT')
  const longitude = valueOf('LONG')
  if (latitude === undefined || longitude === undefined) return undefined
  const time = textOf('PDT') ?? textOf('EDT')
  const speed = valueOf('SPD')
  const speedKmh = valueOf('SPDK')
  return {
    time: time === undefined ? now : utcYmd(time.padEnd(12, '0')),
    latitude: degreesMinutes(latitude),
    longitude: degreesMinutes(longitude),
    valid: true,
    altitude: valueOf('ALT'),
    speed: known(speed === undefined ? speedKmh && kmh(speedKmh) : knots(speed)),
    heading: heading(valueOf('HEAD')),
    satellites: known(valueOf('SATU')),
  }
}
