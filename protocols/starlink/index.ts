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
 *   VIN, VBAT  V of the vehicle and of the battery           BATC       charge, %       EID   event: see `EVENTS`
 *   V1, V2     the same (V1 inferred)
 *   IGN, IGNL, ENG  ignition, or the engine where there is no IGN
 *
 * A time may lack its seconds. Behind ENG, event 20 has a kind, the driver's key and the code that the driver typed (inferred).
 * Without the setting, values that are like those of the maker's own structure are read by it; of others only PDT, LAT and LONG
 * where they follow each other, as the other fields do not show what they are. Nothing is answered.
 */
import {
  type Alarm,
  alarmsOf,
  DecodeError,
  degreesMinutes,
  drawn,
  enveloped,
  type Fix,
  heading,
  kmh,
  knots,
  known,
  line,
  type Message,
  number,
  optionalNumber,
  type Protocol,
  type Said,
  type Session,
  type Settings,
  said,
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
/** The structure of a device as it is delivered, and values like it. */
const DELIVERED =
  '#EDT#,#EID#,#PDT#,#LAT#,#LONG#,#SPD#,#HEAD#,#ODO#,#IN1#,#IN2#,#IN3#,#IN4#,#OUT1#,#OUT2#,#OUT3#,#OUT4#,#LAC#,#CID#,#VIN#,#VBAT#,#DEST#,#IGN#,#ENG#'
const AS_DELIVERED =
  /^\d{12},\d{1,3},[^,]*,[^,]*,[^,]*,[\d.]*,\d*,\d*(?:,[01]){8},\d+,\d+,\d\d\.\d+,\d\d\.\d+,[^,]*,[01],[01](?:,|$)/
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
  const content = event.text('values')
  const format = settings.format ?? (AS_DELIVERED.test(content) ? DELIVERED : undefined)
  return enveloped({ device }, () => {
    if (typeof format !== 'string') {
      const [, PDT, LAT, LONG] = PLACE.exec(content) ?? []
      const fix = fixOf((name) => ({ PDT, LAT, LONG })[name], session)
      return { fixes: fix ? [fix] : [] }
    }
    const values = content.split(',')
    const indexes = indexesOf(format, settings)
    const textOf = (name: string) => {
      const index = indexes.get(name)
      return index === undefined ? undefined : values[index]?.trim() || undefined
    }
    const fix = fixOf(textOf, session)
    const more = saidOf(textOf, indexes.size - 1 === indexes.get('ENG') ? values.slice(indexes.size) : [])
    if (!fix) return { none: 'no place', said: more }
    if (more) fix.said = more
    return { fixes: [fix] }
  })
}

/** `behind`: the values behind those of the structure, where it ends with ENG. */
function saidOf(textOf: (name: string) => string | undefined, behind: readonly string[]): Said | undefined {
  const event = textOf('EID')
  const on = textOf('IGN') ?? textOf('IGNL') ?? textOf('ENG')
  return said({
    ignition: on === undefined ? undefined : on === '1',
    external_voltage: optionalNumber(textOf('VIN') ?? textOf('V1')),
    battery_voltage: optionalNumber(textOf('VBAT') ?? textOf('V2')),
    battery_percent: optionalNumber(textOf('BATC')),
    driver: event === '20' ? behind[1] || behind[2] : undefined,
    alarms: alarmsOf(EVENTS[event ?? '']),
  })
}

const EVENTS: Readonly<Record<string, Alarm | undefined>> = {
  '09': 'power_cut',
  '11': 'low_battery',
  '26': 'tow',
  '36': 'sos',
  '41': 'accident',
  '42': 'jamming',
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
  const star = frame.lastIndexOf(STAR)
  if (star < 0) throw new DecodeError('truncated')
  const sum = Number.parseInt(frame.toString('latin1', star + 1), 16)
  verify(sum === sum8(frame.subarray(1, star)), session)
  return frame.toString('latin1', 0, star)
}

const STAR = 0x2a
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
    said: undefined,
  }
}
