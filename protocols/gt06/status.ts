/*
 * What GT06 frames say beside the position, by "GPS Tracker Communication Protocol" of the JM-VL03 (Concox), V1.1.2, and those
 * before it: the terminal information I, the code E of an alarm and what stands with them.
 *
 *   10, 12, 22   position, cells [ignition 01 …]              12 of some: position, cells, I VVVV [gsm E …], or mileage4
 *   16, 26       position, [L] cells, I B gsm E language [mileage4] [driver8]
 *   27, A4       the same, with a fence behind the language   A0, A4, A5: LAC and cell of 4 and 8 bytes in place of 2 and 3
 *   19, A5       cells, I B gsm E language                     without a position
 *   13           I B gsm x{2}                                 23: I VVVV gsm …, VVVV of the tracker's own battery
 *   13 of 14 bytes   I x{4} B x VVVV …, VVVV of the own battery; of models LW4G-4B, SEEWORLD: see `HEARTBEATS`
 *   XT40         position, L cells, I VVVV battery1 x{9} [L 01 02 driver… 03]
 *   34           position, number6, cells of 4 bytes, driver4, external voltage2, battery voltage2
 *   31           position, cells of 10 bytes, ignition 01      32: position, L cells, I B gsm E language
 *   17           position, cells, driver8; 61: … driver4      36, A2: see `LAYOUTS`
 *   7994         00 or 0B VVVV external voltage; 1B driver, or 1B 02 kind driver xor 03
 *   798C         date6, ignition 01      7970: of modules, 18: battery voltage
 *
 *   I  bit 1: ignition, bit 2: charging; bits 5–3: 1 vibration, 2 power cut, 3 battery low, 4 SOS, 7 tampering     V  0.01 V
 *   B  charge: 0 to 6 in six steps, or percent (inferred from models that send 7 to 100)
 *
 * Bit 14 of the heading's flags says that bit 15 is the ignition. That, the types 17, 31, 32, 34, 36, 61 and A2, the
 * heartbeats of 14 bytes, those of models, 0B of 7994, and tampering in I are inferred from frames.
 */
import { type Alarm, alarmsOf, type Said, said } from '../kit/index.ts'

/** What is said behind a position that ends at `at`; `flags` are those of its heading. */
export function behindPosition({ type, content, model }: Position, at: number, flags: number): Said | undefined {
  const layout = (model === undefined ? undefined : MODELS[model]) ?? LAYOUTS.get(type)
  const more = layout && at < content.length ? layout(content, at) : undefined
  if (more?.ignition !== undefined) return more
  const byFlags = (flags & 0x4000) === 0 ? undefined : (flags & 0x8000) !== 0
  return more || byFlags !== undefined ? said({ ...more, ignition: byFlags }) : undefined
}

interface Position {
  readonly type: number
  readonly content: Buffer
  readonly model?: string
}

/** What a message says that has no position by its type. */
export function withoutPosition({ type, content, model }: Position): Said | undefined {
  const heartbeat = type === HEARTBEAT && model !== undefined ? HEARTBEATS[model] : undefined
  const values = (heartbeat ?? MESSAGES[type])?.(content)
  return values && said(values)
}

type Layout = (content: Buffer, at: number) => Said | undefined

const BY_TYPE: Readonly<Record<number, Layout>> = {
  0x12: (content, at) => {
    const behind = endOfCells(content, at, NARROW)
    const volts = uint(content, behind + 1)
    if (content.length - behind === MILEAGE && content[behind] === 0) return undefined
    if (content.length - behind < 4 || !(volts >= 500 && volts <= 6000)) return ignition(content, behind)
    return said({ ...information(content[behind]), external_voltage: volts / 100, alarms: alarms(content, behind, 4) })
  },
  0x22: (content, at) => {
    const behind = endOfCells(content, at, NARROW)
    const shift = SHIFT_OF_IGNITION.get(content.length - behind)
    return shift === undefined ? undefined : ignition(content, behind + shift)
  },
  0xa0: (content, at) => ignition(content, endOfCells(content, at, WIDE)),
  0x16: (content, at) => alarm(content, at, { width: NARROW, size: 5 }),
  0x26: (content, at) => alarm(content, at, { width: NARROW, size: 5 }),
  0x27: (content, at) => alarm(content, at, { width: NARROW, size: 6 }),
  0xa4: (content, at) => alarm(content, at, { width: WIDE, size: 6 }),
  0x17: (content, at) => {
    const behind = endOfCells(content, at, NARROW)
    return content.length - behind < 8 ? undefined : { driver: content.toString('hex', behind, behind + 8) }
  },
  0x31: (content, at) => ignition(content, at + 10),
  0x32: (content, at) => (isCountry(content[at + 1]) ? status(content, at + 1 + content[at]) : undefined),
  0x34: (content, at) => {
    const behind = endOfCells(content, at + 6, NARROW + 1)
    if (content.length - behind < 8) return undefined
    const volts = {
      external_voltage: uint(content, behind + 4) / 100,
      battery_voltage: uint(content, behind + 6) / 100,
    }
    return { ...volts, driver: String(content.readUInt32BE(behind)) }
  },
  0x36: (content, at) =>
    content.length - at < 19
      ? undefined
      : { external_voltage: uint(content, at + 16) / 100, battery_voltage: content[at + 18] / 10 },
  0xa2: (content, at) => {
    const behind = endOfCells(content, at, WIDE) + 1
    if (content.length - behind < 4) return undefined
    const volts = { external_voltage: uint(content, behind + 1) / 100, battery_percent: content[behind + 3] }
    return said({ ...information(content[behind]), ...volts })
  },
  0x61: (content, at) => (content.length - at < 15 ? undefined : { driver: String(content.readUInt32BE(at + 11)) }),
}
const LAYOUTS = new Map(Object.entries(BY_TYPE).map(([type, layout]) => [Number(type), layout]))

const MODELS: Readonly<Record<string, Layout | undefined>> = {
  XT40: (content, at) => {
    const behind = at + 1 + content[at]
    if (content.length - behind < 4) return undefined
    const volts = { external_voltage: uint(content, behind + 1) / 100, battery_voltage: content[behind + 3] / 10 }
    const card = behind + 13
    const driver = content.length > card + 3 ? content.toString('latin1', card + 3, card + content[card]) : undefined
    return said({ ...information(content[behind]), ...volts, driver })
  },
}

const [HEARTBEAT, LONG_HEARTBEAT] = [0x13, 14]

/** Models whose heartbeats have a voltage: in tenths in place of the language's second byte, or whole in place of the alarm. */
const HEARTBEATS: Readonly<Record<string, ((content: Buffer) => Said | undefined) | undefined>> = {
  'LW4G-4B': (content) => ({ ...status(content, 0), external_voltage: content[4] / 10 }),
  SEEWORLD: ([bits, level, , volts]) => ({
    ...information(bits),
    battery_percent: percent(level),
    external_voltage: volts,
  }),
}

const MESSAGES: Readonly<Record<number, ((content: Buffer) => Said | undefined) | undefined>> = {
  [HEARTBEAT]: (content) =>
    content.length >= LONG_HEARTBEAT
      ? { ...information(content[0]), battery_percent: content[5], battery_voltage: uint(content, 7) / 100 }
      : { ...status(content, 0), alarms: alarmsOf(bitAlarm(content[0])) },
  0x23: (content) => ({ ...information(content[0]), battery_voltage: uint(content, 1) / 100 }),
  0x19: (content) => (isCountry(content[0]) ? status(content, endOfCells(content, 0, NARROW)) : undefined),
  0xa5: (content) => (isCountry(content[0]) ? status(content, endOfCells(content, 0, WIDE)) : undefined),
  0x7994: (content) => {
    if (content[0] === 0x00 || content[0] === 0x0b) return { external_voltage: uint(content, 1) / 100 }
    if (content[0] !== 0x1b) return undefined
    const isFramed = content[1] === 0x02 && content.at(-1) === 0x03
    return { driver: isFramed ? content.toString('hex', 3, content.length - 2) : content.toString('hex', 1) }
  },
  0x798c: (content) => ignition(content, 6),
}

/**
 * Of type 22: by how many bytes are left behind cells of 3 bytes, where the ignition stands: two more bytes follow it, and a mileage
 * of four in some models. Cells of 4 bytes leave one more. 15: as a frame has it.
 */
const SHIFT_OF_IGNITION = new Map([
  [3, 0],
  [7, 0],
  [4, 1],
  [8, 1],
  [15, 1],
])

/** Bytes of a mileage, which alone follows the cells of type 12 of a GS10G (inferred from frames); it begins with 0. */
const MILEAGE = 4

/** Bytes of the area and of the cell behind country and network. */
const [NARROW, WIDE] = [5, 12]

/** Where what follows the cells begins. Bit 15 of the country says that the network has two bytes. */
const endOfCells = (content: Buffer, at: number, width: number) => at + (content[at] & 0x80 ? 4 : 3) + width

/** The high byte of a country, 202 to 999, with or without bit 15; less than the length of cells. */
const isCountry = (byte: number) => (byte & 0x7f) <= 3

const ignition = (content: Buffer, at: number) => (content[at] <= 1 ? { ignition: content[at] === 1 } : undefined)

/** A 16-bit integer; NaN beyond the end. */
const uint = (content: Buffer, at: number) => content[at] * 256 + content[at + 1]

/** `size`: bytes of the status behind the cells, whose length is missing, counts itself or not, by the model. */
function alarm(content: Buffer, at: number, { width, size }: { width: number; size: number }): Said | undefined {
  if (isCountry(content[at])) return status(content, endOfCells(content, at, width), size)
  const counted = at + content[at]
  const hasOneMore = STATUS_TAILS.some((more) => content.length - counted - 1 === size + more)
  return status(content, hasOneMore ? counted + 1 : counted, size)
}

/** What may follow a status: nothing, a mileage, the driver. */
const STATUS_TAILS = [0, 4, 8]
const DRIVER = 8

function status(content: Buffer, at: number, size = 5): Said | undefined {
  if (content.length - at < 4) return undefined
  const level = content[at + 1]
  const hasDriver = content.length - at === size + DRIVER
  return said({
    ...information(content[at]),
    ...(isVoltage(content, at)
      ? { external_voltage: uint(content, at + 1) / 100 }
      : { battery_percent: percent(level) }),
    driver: hasDriver ? content.toString('hex', at + size) : undefined,
    alarms: alarms(content, at, isVoltage(content, at) ? 4 : 3),
  })
}

/** Some models send the voltage in two bytes; then the strength of GSM, 0 to 4, stands one byte further. */
const isVoltage = (content: Buffer, at: number) =>
  content[at + 1] > 6 && content[at + 1] < 24 && content[at + 2] > 4 && content[at + 3] <= 4

const percent = (level: number) => (level <= 6 ? Math.floor((level * 100) / 6) : level)

const information = (bits: number): Said => ({ ignition: (bits & 2) !== 0, charging: (bits & 4) !== 0 })

/** Of the terminal information at `at`, and of the code `code` bytes behind it. */
const alarms = (content: Buffer, at: number, code: number) =>
  alarmsOf(bitAlarm(content[at]), BY_CODE[content[at + code]])

const bitAlarm = (bits: number) => BY_BITS[(bits >> 3) & 7]

const BY_BITS: readonly (Alarm | undefined)[] = Object.assign([], {
  1: 'vibration',
  2: 'power_cut',
  3: 'low_battery',
  4: 'sos',
  7: 'tampering',
} satisfies Record<number, Alarm>)
const BY_CODE: Readonly<Record<number, Alarm | undefined>> = {
  0x01: 'sos',
  0x02: 'power_cut',
  0x03: 'vibration',
  0x09: 'tow',
  0x0e: 'low_power',
  0x0f: 'low_power',
  0x11: 'power_off',
  0x13: 'tampering',
  0x15: 'power_off',
  0x18: 'tampering',
  0x19: 'low_battery',
  0x2c: 'accident',
}
