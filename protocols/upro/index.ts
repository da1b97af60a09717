/*
 * Upro, Huabao, Noran and others (TK110, LT02 …): no specification is known, inferred from frames. Text that begins with * and
 * ends with #; binary fields may follow the position. TCP, no checksum.
 *
 *   *VV20aI,TTn&A…&F…&R…&…#
 *
 *   V  maker: HQ, VK, MG, AI     a  1: an answer is wanted     I  id       T  type, n  its variant
 *   A  hhmmss ddmmmmmm dddmmmmmm h SS CC DDMMYY: UTC; latitude and longitude, 1e-4 minutes; h hexadecimal: bit 0 no fix,
 *      bit 1 north, bit 2 east; S speed, 2 knots; C course, 10°
 *   F  speed, 0.1 knots          G  altitude, 0.1 m            R ggss, O ss: satellites          X  cells
 *   B  status: first byte, bit 0: ignition; fifth byte, bit 4: vibration, bit 6: low power
 *   V  supply, 0.1 V (4 digits), Y  supply, mV (5 digits)      T  own battery, % (2 digits), M  0.1 % (3 digits)
 *   With other numbers of digits V, Y, T and M mean other things. Without A there is no position. Answer: *VV20YTT#
 */
import {
  alarmsOf,
  between,
  DecodeError,
  digitsDegreesMinutes,
  enveloped,
  type Fix,
  heading,
  hexadecimal,
  knots,
  type Message,
  type Protocol,
  type Said,
  said,
  utcDmy,
} from '../kit/index.ts'

export default {
  name: 'upro',
  devices: 'Upro, Noran and others: TK110, LT02, M7, MT02S',
  acknowledges: 'some',
  tcp: { port: 5095, frame: between('*', '#') },
  decode,
} satisfies Protocol

const HEAD = /^\*([A-Z]{2}\d\d)(\d)(\d+),([A-Z]{2})/
const POSITION = /^(\d{6})(\d{8})(\d{9})([0-9A-Fa-f])(\d\d)(\d\d)(\d{6})/
/** The device's clock was never set. */
const DATE_AT = 28
const NO_DATE = /^\d{23}[0-9A-Fa-f]\d{4}0000/
const HASH = 0x23
const NO_FIX = 1
const NORTH = 2
const EAST = 4
/** Types whose reports were seen without a position. */
const TYPES = new Set(['AA', 'AB', 'AD', 'AH', 'BA', 'YA'])

function decode(frame: Buffer): Message {
  const text = frame.toString('latin1', 0, frame.at(-1) === HASH ? frame.length - 1 : frame.length)
  const head = HEAD.exec(text.slice(0, 64))
  if (!head) throw new DecodeError(frame.length < 12 ? 'truncated' : 'unsupported')
  const [, maker, answered, device, type] = head
  const fields = fieldsOf(text)
  const reply = answered === '1' ? Buffer.from(`*${maker}Y${type}#`) : undefined
  const place = fields.get('A')
  const says = saidIn(fields)
  if (place !== undefined && !(place.startsWith('0000', DATE_AT) && NO_DATE.test(place)))
    return enveloped({ device, reply }, () => ({ fixes: [fixOf(place, fields, says)] }))
  return { device, none: place === undefined ? whyNone(type, fields) : 'no fix', said: says, reply }
}

function whyNone(type: string, fields: ReadonlyMap<string, string>): string | undefined {
  if (fields.has('X')) return 'cells'
  return type === 'AH' ? 'heartbeat' : TYPES.has(type) ? 'no place' : undefined
}

function saidIn(fields: ReadonlyMap<string, string>): Said | undefined {
  const status = fields.get('B') ?? ''
  const hasStatus = status.length === 10 && hexadecimal(status) >= 0
  const flags = hasStatus ? hexadecimal(status, 8, 10) : 0
  return said({
    ignition: hasStatus ? (hexadecimal(status, 1, 2) & IGNITION) !== 0 : undefined,
    external_voltage: exact(fields.get('V'), 4, 10) ?? exact(fields.get('Y'), 5, 1000),
    battery_percent: exact(fields.get('T'), 2, 1) ?? exact(fields.get('M'), 3, 10),
    alarms: flags === 0 ? undefined : alarmsOf(flags & VIBRATION && 'vibration', flags & LOW_POWER && 'low_power'),
  })
}

const IGNITION = 1
const [VIBRATION, LOW_POWER] = [0x10, 0x40]

/** The number of a field of exactly so many digits, divided. */
function exact(field: string | undefined, width: number, divisor: number): number | undefined {
  const value = field?.length === width ? digits(field, 0, width) : undefined
  return value === undefined ? undefined : value / divisor
}

/** The fields by their letters; of a letter that comes twice the first: binary fields at the end may look like fields. */
function fieldsOf(text: string): Map<string, string> {
  const fields = new Map<string, string>()
  let at = text.indexOf('&')
  while (at >= 0 && fields.size < 32) {
    const end = text.indexOf('&', at + 1)
    const letter = text[at + 1]
    if (letter !== undefined && !fields.has(letter)) fields.set(letter, text.slice(at + 2, end < 0 ? undefined : end))
    at = end
  }
  return fields
}

function fixOf(place: string, fields: ReadonlyMap<string, string>, says: Said | undefined): Fix {
  const found = POSITION.exec(place)
  if (!found) throw new DecodeError('malformed', `the position "${place.slice(0, 40)}"`)
  const [, time, y, x, hex, speed, course, date] = found
  const flags = hexadecimal(hex)
  const latitude = digitsDegreesMinutes(y, 2)
  const longitude = digitsDegreesMinutes(x, 3)
  const exactSpeed = digits(fields.get('F'), 0, 4)
  const altitude = digits(fields.get('G'), 0, 6)
  return {
    time: utcDmy(date, time),
    latitude: flags & NORTH ? latitude : -latitude,
    longitude: flags & EAST ? longitude : -longitude,
    valid: (flags & NO_FIX) === 0,
    altitude: altitude === undefined ? undefined : altitude / 10,
    speed: knots(exactSpeed === undefined ? Number(speed) * 2 : exactSpeed / 10),
    heading: heading(Number(course) * 10),
    satellites: digits(fields.get('R'), 2, 2) ?? digits(fields.get('O'), 0, 2),
    said: says,
  }
}

/** The number of some digits of a field; undefined if others stand there. */
function digits(field: string | undefined, from: number, width: number): number | undefined {
  if (field === undefined) return undefined
  let value = 0
  for (let i = from; i < from + width; i++) {
    const digit = field.charCodeAt(i) - 0x30
    if (!(digit >= 0 && digit <= 9)) return undefined
    value = value * 10 + digit
  }
  return value
}
