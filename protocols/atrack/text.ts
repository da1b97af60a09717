import {
  dop,
  eachReadable,
  type Fix,
  heading,
  kmh,
  type Message,
  number,
  optionalNumber,
  type Settings,
  said,
  TextReader,
  utcYmd,
} from '../kit/index.ts'

/** The fixes of records of text, one a line. */
export function textRecords(text: string, settings: Settings): Message {
  const form = typeof settings.form === 'string' ? settings.form : undefined
  const lines = text.split('\r\n').filter((line) => line !== '')
  const { good, unreadable } = eachReadable(lines, (line) => record(line, form))
  return { fixes: good, unreadable }
}

function record(line: string, form: string | undefined): Fix {
  const r = new TextReader(line, ',')
  const time = timeOf(r.next())
  const longitude = r.skip(2).number() / 1e6
  const latitude = r.number() / 1e6
  const course = heading(r.optionalNumber())
  const [, , hdop = '', , speed = '', , , driver, , , , ...own] = r.rest().replace(LINK, '$1 ').split(',')
  return {
    time,
    latitude,
    longitude,
    valid: true,
    heading: course,
    hdop: dop(optionalNumber(hdop, (value) => value / 10)),
    speed: optionalNumber(speed, kmh),
    ...values(own, form, driver),
  }
}

/** The comma within the link of a map, the value of %GL. */
const LINK = /(=-?\d{1,3}\.\d{1,10}),/

function timeOf(digits: string): number {
  return digits.length === 14 ? utcYmd(digits.slice(2)) : number(digits) * 1000
}

/** What is read of one's own values: behind their names, or in the order of the setting. */
function values(fields: string[], form: string | undefined, driver: string): Partial<Fix> {
  const isNamed = fields[0]?.startsWith('%')
  const names = (isNamed ? fields.shift() : form)?.split('%').filter((name) => name !== '' && name !== 'CI') ?? []
  const value = (name: string) => {
    const field = fields[names.indexOf(name)]
    return field !== undefined && /^-?\d+$/.test(field) ? +field : undefined
  }
  const volts = (name: string) => optionalNumber(value(name), (tenths) => tenths / 10)
  const flag = (name: string) => (value(name) === undefined ? undefined : value(name) === 1)
  const says = { external_voltage: volts('MV'), battery_voltage: volts('BV'), driver }
  return {
    altitude: value('AT'),
    satellites: value('SA'),
    said: said({ ...says, moving: flag('MT'), ignition: flag('IN0') }),
  }
}
