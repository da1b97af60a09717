/*
 * TLT-2H, V500, MT500, MT600, MT700, MT710, MP90 (Mobiletron clones). "SMS and GPRS mode protocol"
 * of the UDT-TV-02, as far as the frames show it. TCP and UDP, text of several lines that ends with ##:
 *
 *   #I#m#p[#0#0#V#v#0]#k#n
 *   #b$GPRMC,…*XX      position, NMEA 0183
 *   #b$WIFI,…*XX       no fix: Wi-Fi
 *   ##
 *
 *   I  IMEI     p  password     n  how many lines follow     X  XOR between $ and *
 *   m  model    k  event        b  battery (of two digits 0.1 V, of four mV), cells     V, v  vehicle's and own battery, 0.1 V
 *
 * k is AUTO and AUTOSTART with the ignition on, AUTOLOW and AUTOSTOP with it off; TOWED, SOS, LP (low power), DEF (power cut);
 * by "Mictrack MT500 GPRS Communication Protocol", 2.3, BLP (own battery low), CLP (vehicle's battery low), OPEN (antenna).
 * The other meanings are those of frames and of an owner of a TLT-2H; the voltages are inferred.
 * Nothing is answered.
 */
import {
  type Alarm,
  alarmsOf,
  DecodeError,
  eachReadable,
  endsWith,
  enveloped,
  type Fix,
  type Message,
  type Protocol,
  rmcFix,
  type Said,
  type Session,
  said,
  verify,
  xorOfText,
} from '../kit/index.ts'

const frame = endsWith('##\r\n')

export default {
  name: 'tlt2h',
  devices: 'TLT-2H, V500, V600, MT500, MT600, MT700, MT710, MP90',
  integrity: { checksum: 'XOR', covers: (bytes) => [bytes.indexOf('$') + 1, bytes.indexOf('*')] },
  tcp: { port: 5030, frame },
  udp: { port: 5030, frame },
  decode,
} satisfies Protocol

const HEAD = /^#(\d{10,17})#/
/** A head that says that no lines follow. */
const NO_LINES = /#0+\s*$/

function decode(bytes: Buffer, session: Session): Message {
  const lines = bytes.toString('latin1').trim().split('\n')
  const [, device] = HEAD.exec(lines[0]) ?? []
  if (device === undefined) throw new DecodeError('unsupported')
  return enveloped({ device }, () => content(lines, session))
}

function content(lines: readonly string[], session: Session): Message {
  const head = lines[0].split('#')
  const readings = lines.filter((line) => line.includes('$'))
  if (readings.length === 0) return { none: NO_LINES.test(lines[0]) ? 'no fix' : undefined, said: saidOf(head, '') }
  const { good, unreadable } = eachReadable(readings, (line) => {
    const told = saidOf(head, line)
    const fix = fixOf(line.slice(line.indexOf('$')), session)
    return { said: told, fix: fix && { ...fix, said: told } }
  })
  const fixes = good.flatMap(({ fix }) => (fix ? [fix] : []))
  if (fixes.length > 0) return { fixes, unreadable }
  return { none: readings.some((line) => line.includes('$WIFI,')) ? 'wifi' : 'no fix', said: good[0].said, unreadable }
}

/** What the head, and the line in front of a sentence, say: see the drawing. */
function saidOf(head: readonly string[], line: string): Said | undefined {
  const event = head.at(-2) ?? ''
  const [, battery] = BATTERY.exec(line) ?? []
  const isLong = head.length >= LONG_HEAD
  const own = isLong ? Number(head[7]) / 10 : battery && Number(battery) / (battery.length === 2 ? 10 : 1000)
  return said({
    ignition: IGNITIONS.get(event),
    external_voltage: isLong ? Number(head[6]) / 10 : undefined,
    battery_voltage: own || undefined,
    alarms: alarmsOf(ALARMS[event]),
  })
}

const IGNITIONS: ReadonlyMap<string, boolean> = new Map([
  ['AUTO', true],
  ['AUTOSTART', true],
  ['AUTOLOW', false],
  ['AUTOSTOP', false],
])
const ALARMS: Readonly<Record<string, Alarm | undefined>> = {
  TOWED: 'tow',
  SOS: 'sos',
  LP: 'low_power',
  DEF: 'power_cut',
  BLP: 'low_battery',
  CLP: 'low_power',
  OPEN: 'gps_antenna_cut',
}

const BATTERY = /^#(\d{2}|\d{4})[#$]/
/** Parts of a head with voltages. */
const LONG_HEAD = 11

/** Undefined of a sentence of Wi-Fi, and without a place. @throws DecodeError */
function fixOf(sentence: string, session: Session): Fix | undefined {
  if (/^\$[A-Z]{2}RMC,/.test(sentence)) return rmcFix(sentence, session)
  const star = sentence.indexOf('*')
  const end = star < 0 ? sentence.length : star
  verify(xorOfText(sentence, 1, end) === Number.parseInt(sentence.slice(end + 1), 16), session)
  if (sentence.startsWith('$WIFI,')) return undefined
  throw new DecodeError('unsupported', `the sentence ${sentence.slice(0, 10)}`)
}
