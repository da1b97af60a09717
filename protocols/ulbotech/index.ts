/*
 * Ulbotech T301, T321, T361, T373, TS01: "Ulbotech Tracking Device Communication Protocol" V1.2
 * (scribd.com/document/381339073), as far as the frames show it. Big-endian.
 *
 *   F8 VV TT IIIIIIIIIIIIIIII SSSSSSSS (tag, length, value)… CCCC F8       escapes: F8 as F7 0F, F7 as F7 00
 *   *TS01,imei#     *TS01,imei,hhmmssDDMMYY,GPS:f;NY;EO;V;G;D,…#     f: 2, 3: fixed; Y, O in degrees, D in units
 *
 *   V  version    T  type: 01 report       S  seconds since 2000; its highest bit is no part of it
 *   I  IMEI, packed decimals               C  CRC-16/XMODEM from V on
 *
 *   tag 01  AAAAAAAA OOOOOOOO VVVV GGGG DDDD    tag 02  cells    tag 03  status{2} …; bit 9: ignition    tag 05  (nvvv)…
 *
 *   A, O  latitude, longitude, 1e-6 degrees     V  speed, km/h     G  heading     D  HDOP, 0.01; 9999: no fix
 *   n  channel (4 bits): 0 supply, 2 own battery; v  110/4096 V from −10 V on. In lines STT:status;…, ADC:n;volts;n;volts…
 *
 * Answer to a report: F8 01 FE, its checksum, the checksum of these, F8; to a line: *TS01,ACK: and its checksum, #.
 */
import {
  ByteReader,
  ByteWriter,
  between,
  crc16Xmodem,
  DecodeError,
  dialects,
  dop,
  enveloped,
  escaped,
  type Fix,
  heading,
  kmh,
  type Message,
  number,
  optionalNumber,
  type Protocol,
  type Said,
  type Session,
  said,
  secondsSince,
  TextWriter,
  tlv,
  utcDmy,
  verify,
} from '../kit/index.ts'

const FLAG = 0xf8
const STAR = 0x2a
const escaping = escaped({
  flag: FLAG,
  escape: 0xf7,
  codes: new Map([
    [0x00, 0xf7],
    [0x0f, 0xf8],
  ]),
})

const framing = dialects([
  { when: FLAG, frame: escaping.frame },
  { when: '*', frame: between('*', '#') },
])

export default {
  name: 'ulbotech',
  devices: 'Ulbotech T301, T321, T361, T373',
  acknowledges: 'fixes',
  integrity: { checksum: 'CRC-16/XMODEM', covers: [1, -3] },
  escaping,
  tcp: { port: 5072, frame: framing.frame },
  decode,
} satisfies Protocol

const REPORT = 1
const POSITION = 1
const CELLS = 2
const STATUS = 3
const VOLTAGES = 5
const IGNITION = 0x0200
const NO_FIX = 9999
const timeOf = secondsSince(2000)

function decode(frame: Buffer, session: Session): Message {
  if (frame[0] === STAR) return line(frame)
  if (frame[0] !== FLAG) throw new DecodeError('unsupported', 'the frame begins with no flag')
  const content = escaping.content(frame)
  const isWhole = frame.at(-1) === FLAG
  if (!isWhole && !session.lenient) throw new DecodeError('truncated')
  const data = content.subarray(0, isWhole ? -2 : undefined)
  const checksum = isWhole && content.length > 2 ? content.readUInt16BE(data.length) : 0
  verify(isWhole && crc16Xmodem(data) === checksum, session)
  const r = new ByteReader(data)
  const type = r.skip(1).u8()
  const device = r.bcd(8).replace(/^0+/, '')
  if (type !== REPORT) return { device }
  return enveloped({ device, reply: acknowledgement(checksum) }, () => positions(r))
}

function positions(r: ByteReader): Message {
  const time = timeOf(r.u32() & 0x7fff_ffff)
  const fixes: Fix[] = []
  const says: Says = {}
  let hasCells = false
  for (const { tag, value } of tlv(r, { tag: 1, length: 1 })) {
    if (tag === POSITION) fixes.push(position(time, value))
    else if (tag === STATUS && value.left >= 2) says.ignition = (value.u16() & IGNITION) !== 0
    else if (tag === VOLTAGES) readVoltages(value, says)
    hasCells ||= tag === CELLS
  }
  const besides = said(says)
  if (fixes.length === 0) return { none: hasCells ? 'cells' : 'no place', said: besides }
  return { fixes: fixes.map((fix) => ({ ...fix, said: besides })) }
}

type Says = { -readonly [Key in keyof Said]: Said[Key] }

function readVoltages(r: ByteReader, says: Says): void {
  while (r.left >= 2) {
    const value = r.u16()
    const volts = ((value & 0x0fff) * 110) / 4096 - 10
    const name = CHANNELS[value >> 12]
    if (name) says[name] = volts
  }
}

const CHANNELS: Readonly<Record<number, 'external_voltage' | 'battery_voltage'>> = {
  0: 'external_voltage',
  2: 'battery_voltage',
}

function position(time: number, r: ByteReader): Fix {
  const latitude = r.i32() / 1e6
  const longitude = r.i32() / 1e6
  const speed = kmh(r.u16())
  const course = heading(r.u16())
  const hdop = r.u16()
  return { time, latitude, longitude, valid: hdop !== NO_FIX, speed, heading: course, hdop: dop(hdop / 100) }
}

function acknowledgement(checksum: number): Buffer {
  return escaping.wrap(new ByteWriter().u8(1).u8(0xfe).u16(checksum).crc16(crc16Xmodem).toBuffer())
}

const LINE =
  /^[^,]*,\d+,(\d{6})(\d{6}),(?:[^#]{0,200},)?GPS:(\w?);([NS])(\d{1,2}\.\d+);([EW])(\d{1,3}\.\d+);([^;#]{0,20});([^;#]{0,20});([^;,#]{0,20})/

function lineFix(text: string): Fix | undefined {
  const match = LINE.exec(text)
  if (!match) return undefined
  const [, clock, date, fixed, ns, latitude, ew, longitude, speed, course, hdop] = match
  return {
    time: utcDmy(date, clock),
    latitude: number(latitude) * (ns === 'S' ? -1 : 1),
    longitude: number(longitude) * (ew === 'W' ? -1 : 1),
    valid: fixed === '2' || fixed === '3',
    speed: optionalNumber(speed, kmh),
    heading: heading(optionalNumber(course)),
    hdop: dop(optionalNumber(hdop)),
    said: saidInLine(text),
  }
}

function saidInLine(text: string): Said | undefined {
  const status = /,STT:([\da-fA-F]{1,8})/.exec(text)?.[1]
  const volts = /,ADC:([\d.;]{0,99})/.exec(text)?.[1].split(';') ?? []
  const says: Says = { ignition: status === undefined ? undefined : (Number.parseInt(status, 16) & IGNITION) !== 0 }
  for (let i = 0; i + 1 < volts.length; i += 2) {
    const name = CHANNELS[+volts[i]]
    if (name) says[name] = optionalNumber(volts[i + 1])
  }
  return said(says)
}

/** A line with an id alone is a heartbeat. */
function line(frame: Buffer): Message {
  const text = frame.toString('latin1', 1, frame.length - 1)
  const [name, device = '', more] = text.split(',', 3)
  if (!/^TS\d\d$/.test(name)) throw new DecodeError('unsupported', 'the frame does not begin with *TS')
  if (!/^\d{15}$/.test(device)) throw new DecodeError('malformed', 'the frame has no IMEI')
  const checksum = crc16Xmodem(Buffer.from(text, 'latin1'))
  const reply = new TextWriter().text(`*${name},ACK:`).hex(checksum, 4).text('#').toBuffer()
  return enveloped({ device, reply }, () => lineContent(text, more === undefined))
}

function lineContent(text: string, isAlone: boolean): Message {
  if (isAlone) return { none: 'heartbeat' }
  const fix = lineFix(text)
  if (fix) return { fixes: [fix] }
  return { none: text.includes(',LBS:') ? 'cells' : undefined, said: saidInLine(text) }
}
