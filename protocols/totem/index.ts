/*
 * Totem AT05, AT06, AT07, AT09. "AT09 Protocol & Commands" 2.43 (Totem) and, for the older lines, "AVL-08 GPRS Data Protocol" 1.0.1
 * and "AT06 GPRS Data Protocol"; the packed ones are inferred from frames, and that AT06 has the day first, and knots, as GPRMC has,
 * is a guess. TCP, text. Newer frames have a decimal length and no end, older ones end with CR LF:
 *
 *   $$LLLLKKI|FFFFFFFFYYMMDDhhmmssbbee…cccccccccsSSggCCCvvvPPPPoooooooYYYYYYYYYNOOOOOOOOOOEnnnnXX        position
 *   $$LLLLE2I|YYMMDDhhmmss,O,Y,…|XX                                                          driver or sensor, with a position
 *   $$LLI|KK$GPRMC,…*hh|p|P|v|i|YYYYMMDDhhmmss|aBBBIIII|…|nnnn[|]ZZZZ                                     position, older
 *   $$LLI|KKDDMMYYhhmmss…ssCCCvvvPPPPoooooooYYYYYYYYYNOOOOOOOOOOEnnnnZZZZ                                 the same, packed
 *   $$LLI|KKDDMMYYhhmmss|A|Y|N|O|E|S|C|P|x{12}|aBBBIIII|…|nnnn|ZZZZ                                  AT06: S in knots
 *
 *   L  length     F  status, hexadecimal          C  degrees     P  HDOP                X  XOR of all before it
 *   K  kind       s  satellites, g  GSM signal    v  km/h        Y, O  ddmm.mmmm        Z  CRC-16/MODBUS of all before it
 *   I  IMEI       o  odometer                     n  number      p, v  PDOP, VDOP
 *
 * Whether there is a fix is bit 14 of the status, in frames with analogue inputs (V) more than once bit 12; where it is not
 * known what precedes the place, either of them.
 * Answer: $$0014AAnnnnXX with the four characters in front of X; ACK OK to older lines.
 */
import {
  type Alarm,
  alarmsOf,
  between,
  crc16Modbus,
  type Draft,
  dialects,
  type Fix,
  hexadecimal,
  lengthField,
  RMC,
  type Session,
  TextWriter,
  textProtocol,
  verify,
  xor,
} from '../kit/index.ts'

const HEAD = '$${length}{kind}{imei}|'
const PLACE = '{course:3}{speedKmh:3}{hdop:4}{odometer}{latNmea:9}{ns}{lonNmea:10}{ew}'
const TIME = '{status}{ymd}{hhmmss}'
const VOLTS = '{batteryVolts:2/10}{externalVolts:2}'
/** The battery of older devices: whether it is charged, its voltage, and that which charges it. */
const CHARGE = '{charging}{batteryVolts:3/100}{externalVolts:4/100}'
const OLD = '$${size}{imei}|{oldKind}'
/** AT06 has a bar between all fields of the position. */
const SEPARATED = `${OLD}{dmy}{hhmmss}|[{valid}]|{latNmea}|[{ns}]|{lonNmea}|[{ew}]|{speedKnots}|{course}|{hdop}`

const ALARMS: Readonly<Record<string, Alarm>> = { '01': 'sos', 10: 'low_battery' }

const { frame } = dialects([
  { when: isNewer, frame: lengthField({ start: '$$', at: 2, width: 4, digits: 10, add: 0 }) },
  { when: '$$', frame: between('$$', '\n') },
])

export default textProtocol({
  name: 'totem',
  devices: 'Totem AT05, AT06, AT07, AT09',
  acknowledges: 'fixes',
  integrity: {
    checksum: 'XOR, or CRC-16/MODBUS in older lines',
    covers: (bytes) => [0, isNewer(bytes) === true ? bytes.length - 2 : bytes.toString('latin1').trimEnd().length - 4],
  },
  port: 5007,
  frame,
  before: checked,
  fields: {
    imei: { like: '\\d{15}' },
    length: { like: '\\d{4}' },
    size: { like: '[0-9A-Fa-f]{2}' },
    kind: { like: '[0-9A-Z]{2}', alarms: ALARMS },
    oldKind: { like: '[0-9A-Z]{2}', alarms: { ...ALARMS, 16: 'gps_antenna_cut' } },
    status: { like: '[0-9A-F]{8}', read: readStatus },
    inputs: { like: '\\d{4}' },
    more: { like: '\\d{8}|\\d{12}|\\d{16}|\\d{20}|\\d{24}' },
    /** Of other models: more or fewer digits, whose meaning is not known, up to the place, which ends alike in all. */
    others: { like: Array.from({ length: 41 }, (_, i) => `[0-9A-F]{${i + 8}}`).join('|') },
    cell: { like: '[0-9A-F]{8}' },
    longCell: { like: '[0-9A-F]{15}' },
    signal: { like: '\\d{2}' },
    odometer: { like: '\\d{7}' },
    flags: { like: '[0-9A-F]{4}' },
    spare: { like: '[0-9A-F]{20}' },
    /** Flags, battery and spare digits that are none of these. */
    packed: { like: '[0-9A-F]{32}' },
    card: { like: '[0-9A-Fa-f]+', read: (text, draft) => draft.says({ driver: text }) },
    rest: {},
  },
  lines: [
    { like: `${HEAD}${TIME}${VOLTS}{inputs}{cell}{satellites:2}{signal}${PLACE}{rest}`, fix: fixBy(0x4000), answer },
    { like: `${HEAD}${TIME}${VOLTS}{more}{cell}{satellites:2}{signal}${PLACE}{rest}`, fix: fixBy(0x1000), answer },
    { like: `${HEAD}${TIME}{batteryVolts:4/1000}{longCell}${PLACE}{rest}`, fix: fixBy(0x4000), answer },
    { like: `${HEAD}${TIME}{others}${PLACE}{rest}`, fix: fixBy(0x5000), answer },
    { like: '$${length}E2{imei}|{ymd}{hhmmss},{lon},{lat},{card}|{rest}', answer },
    { like: `${HEAD}{ymd}{hhmmss},{lon},{lat},{rest}`, answer },
    { like: '$${length}BB{imei}', none: 'heartbeat' },
    { like: `${HEAD}{rest}`, unknown: 'type', answer },
    { like: `${OLD}$GPRMC,${RMC}{any}|{any}|{hdop}|{any:3}|${CHARGE}|{any}`, answer: 'ACK OK\r\n' },
    { like: `${OLD}$GPRMC,${RMC}{any}|{any}|{hdop}|{any}`, answer: 'ACK OK\r\n' },
    { like: `${SEPARATED}|{any}|${CHARGE}|{any}`, answer: 'ACK OK\r\n' },
    { like: `${SEPARATED}|{any}`, answer: 'ACK OK\r\n' },
    { like: `${OLD}{dmy}{hhmmss}{flags}${CHARGE}{spare}{satellites:2}${PLACE}{any}`, answer: 'ACK OK\r\n' },
    { like: `${OLD}{dmy}{hhmmss}{packed}{satellites:2}${PLACE}{any}`, answer: 'ACK OK\r\n' },
    { like: `${OLD}00000000000000000000{any}`, none: 'no fix', answer: 'ACK OK\r\n' },
    { like: `${OLD}{any}`, unknown: 'type', answer: 'ACK OK\r\n' },
  ],
})

/** Newer frames are those without the bar that older ones have behind a length of two digits and the IMEI. */
function isNewer(bytes: Buffer): boolean | 'maybe' {
  if (bytes.length <= OLD_BAR) return '$$'.startsWith(bytes.toString('latin1', 0, 2)) && 'maybe'
  return bytes[0] === 0x24 && bytes[1] === 0x24 && bytes[OLD_BAR] !== 0x7c
}

const OLD_BAR = 19

/** Checks the checksum and takes it off; the older lines of some devices have it behind a bar. */
function checked(text: string, session: Session, bytes: Buffer): string {
  const digits = isNewer(bytes) === true ? 2 : 4
  const covered = bytes.subarray(0, -digits)
  const sum = digits === 2 ? xor(covered) : crc16Modbus(covered)
  verify(sum === hexadecimal(text, text.length - digits), session)
  return text.slice(0, -digits)
}

function fixBy(bit: number) {
  return (draft: Draft, session: Session): Fix | undefined => {
    draft.valid = (hexadecimal(draft.text('status')) & bit) !== 0
    return draft.fix(session)
  }
}

/** Bits 30 and 28 of a status are the ignition and the power from outside, which charges the battery. */
function readStatus(text: string, draft: Draft): void {
  const status = hexadecimal(text)
  draft.beside.ignition = (status & (1 << 30)) !== 0
  draft.beside.charging = (status & (1 << 28)) !== 0
  if ((status & (SOS | NO_ANTENNA)) === 0) return
  draft.says({ alarms: alarmsOf((status & SOS) !== 0 && 'sos', (status & NO_ANTENNA) !== 0 && 'gps_antenna_cut') })
}

const [SOS, NO_ANTENNA] = [1 << 31, 1 << 25]

function answer(draft: Draft): Buffer {
  const behind = draft.text('card') === '' ? draft.text('rest') : `${draft.text('card')}|${draft.text('rest')}`
  return new TextWriter().text('$$0014AA').text(behind.slice(-4)).xor().toBuffer()
}
