import {
  ByteReader,
  DecodeError,
  degreesMinutes,
  digitsOfTime,
  enveloped,
  type Fix,
  heading,
  kmh,
  type Message,
  mph,
  optionalNumber,
  packedFix,
  type Session,
  said,
  TextReader,
  unescape,
  utcDmy,
} from '../kit/index.ts'

/** How bytes are written between parentheses that would end them. */
export const ESCAPE = 0x3d
export const CODES = new Map([
  [0x15, 0x28],
  [0x14, 0x29],
  [0x11, 0x2c],
  [0x00, 0x3d],
])
/** Ids have ten digits; locks that speak JT808 ask by the same words, with twelve. */
const TIME = /^\d{10},\d+,\d+,BASE,2,TIME$/
const SENSOR = /^\((\d+),\d+,\d+,WLNET,5,\d+,/

/** The message of a line between parentheses. @throws DecodeError */
export function text(frame: Buffer, { now }: Session): Message {
  const content = frame.subarray(1, frame.at(-1) === 0x29 ? -1 : undefined)
  const sensor = SENSOR.exec(frame.toString('latin1', 0, 64))
  if (sensor) {
    const bytes = unescape(content.subarray(sensor[0].length - 1), ESCAPE, CODES)
    return enveloped({ device: sensor[1] }, () => ({ fixes: [packedFix(new ByteReader(bytes))] }))
  }
  const line = content.toString('latin1')
  if (TIME.test(line))
    return {
      device: line.split(',', 1)[0],
      none: 'time',
      reply: Buffer.from(`(${line.slice(0, -'TIME'.length)}20${digitsOfTime(now)})`),
    }
  const r = new TextReader(line, ',')
  const device = r.next()
  if (!/^\d+$/.test(device)) throw new DecodeError('malformed', 'the frame begins with no id')
  let type = r.next()
  // Newer devices put the version of the protocol in front.
  if (/^\d+$/.test(type)) type = r.next()
  const reply = REPLIES.get(type)
  const read = TYPES.get(type) ?? found
  return enveloped({ device, reply: reply === undefined ? undefined : Buffer.from(reply) }, () => read(r))
}

const REPLIES = new Map([...['U01', 'U02', 'U03'].map((type) => [type, '(S39)'] as const), ['U06', '(S20)']])

const TYPES = new Map<string, (r: TextReader) => Message>([
  ['W01', (r) => ({ fixes: [ofW01(r)] })],
  ['U01', (r) => ({ fixes: [ofU(r)] })],
  ['U02', (r) => ({ fixes: [ofU(r)] })],
  ['U03', (r) => ({ fixes: [ofU(r)] })],
  ['U06', (r) => ({ fixes: [ofU(r.skip())] })],
  ['P45', lockEvent],
  ['U04', () => ({ none: 'heartbeat' })],
  ['@JT', () => ({ none: 'heartbeat' })],
  ['U09', () => ({ none: 'trip' })],
])

/** What a type that is not known says, where a position stands in it as in U01. */
function found(r: TextReader): Message {
  const position = LIKE_U01.exec(r.rest())?.[1]
  return position === undefined ? {} : { fixes: [ofU(new TextReader(position, ','))] }
}

const LIKE_U01 = /(?:^|,)(\d{6},\d{6},[TFAV],[\d.]+,[NS],[\d.]+,[EW],.*)$/

function ofW01(r: TextReader): Fix {
  const longitude = degreesMinutes(r.number()) * signOf(r.next())
  const latitude = degreesMinutes(r.number()) * signOf(r.next())
  const valid = isValid(r.next())
  const time = utcDmy(r.next(), r.next())
  return { time, latitude, longitude, valid, ...motion(r, kmh), said: said({ battery_percent: r.optionalNumber() }) }
}

function ofU(r: TextReader): Fix {
  const time = utcDmy(r.next(), r.next())
  const valid = isValid(r.next())
  const latitude = r.number() * signOf(r.next())
  const longitude = r.number() * signOf(r.next())
  return { time, latitude, longitude, valid, ...motion(r, mph), ...satellitesAndCharge(r) }
}

function lockEvent(r: TextReader): Message {
  const time = utcDmy(r.next(), r.next())
  const latitude = r.number() * signOf(r.next())
  const longitude = r.number() * signOf(r.next())
  const valid = isValid(r.next())
  const moved = motion(r, mph)
  const [, , driver, , , serial = ''] = r.rest().split(',')
  const fix = { time, latitude, longitude, valid, ...moved, said: said({ driver }) }
  return { fixes: [fix], reply: serial === '' ? undefined : Buffer.from(`(P69,0,${serial})`) }
}

function motion(r: TextReader, unit: typeof kmh): Pick<Fix, 'speed' | 'heading'> {
  const speed = r.optionalNumber()
  return { speed: speed === undefined ? undefined : unit(speed), heading: heading(r.optionalNumber()) }
}

function signOf(letter: string): 1 | -1 {
  if (!/^[NSEW]$/.test(letter)) throw new DecodeError('malformed', `"${letter.slice(0, 40)}" is no hemisphere`)
  return letter === 'S' || letter === 'W' ? -1 : 1
}

function isValid(letter: string): boolean {
  return letter === 'A' || letter === 'T'
}

/** The two fields behind the course; some models leave the first out. */
function satellitesAndCharge(r: TextReader): Pick<Fix, 'satellites' | 'said'> {
  let field = r.ended ? '' : r.next()
  const satellites = field.endsWith('%') ? undefined : optionalNumber(field)
  if (!field.endsWith('%') && !r.ended) field = r.next()
  const charge = field.endsWith('%') ? optionalNumber(field.slice(0, -1)) : undefined
  return { satellites, said: said({ battery_percent: charge }) }
}
