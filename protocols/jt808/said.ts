/*
 * What terminals say beside the position. The standard has the ignition (bit 0 of S), whether the vehicle moves (bit 22, since
 * 2019) and alarms; the rest is in tagged values that each maker chose for itself, told apart by their lengths. From the document of
 * the G10LS: 56, 61, F4, F6 and alarms 15–17 (before 2019). The others are inferred from frames, and so is that the battery charges
 * if bit 26 of S is set; the standard reserves that bit.
 *
 *   56 LL PP         own battery: level 0–10, % (1–100 where it is measured)     61 VVVV      supply, 0.01 V
 *   69, D5 VVVV      own battery, 0.01 V                                         82 VVVV      supply, 0.1 V
 *   D4, FE PP        own battery, %                                              F1 VVVVVVVV  supply, mV
 *   E1 PP, E1 VVVV   own battery, %; supply, 0.1 V                               BD           driver, text
 *   E3 PPPP VVVV …   own battery, %; *0.01 V                                     F4 FFFF      bit 4: accident
 *   E4 CC PP         own battery: 0 while it charges, %                          E5 MM        moving
 *   F6 WW GG RR CC   CC bit 0: charger connected, 1: full
 *   F7 VVVVVVVV CC PP  own battery: mV, 2 while it charges, %
 *   EB (LLLL TTTT value)…  L from T on; 002D: *mV, 00A8 and 00E1: own battery, %, 0089: unset bits are alarms (0 power off,
 *                    12 tampering), 00C5: the same (6 vibration); its bits 24 and 23: 0 moves, 1 stands (W15L of SeeWorld)
 *
 *   *  of the own battery or, above 6 V, of the supply
 *
 *   60 of 17 bytes: the last eight are a card, digits (inferred from one frame)
 *
 *   F0 YYMMDDhhmmss xx xx 01 NN of (NNNN LL value) SSSSSSSS …     of an OBD reader, inferred from frames: 0530 is the supply, mV
 *   F0 YYMMDDhhmmss xx xx 03 xx xx xx SSSSSSSS …
 */
import { type Alarm, alarmsIn, alarmsOf, ByteReader, type Said, said, tlv } from '../kit/index.ts'

/** What a position says besides: its alarms and status, and the tagged values behind it. */
interface Besides {
  readonly satellites?: number
  readonly said: Said | undefined
}

/** Reads the tagged values up to the end of the reader. */
export function besides(r: ByteReader, alarms: number, status: number): Besides {
  const says: Says = {
    ignition: (status & IGNITION) !== 0,
    alarms: alarms === 0 ? [] : alarmsIn(alarms, ALARMS),
  }
  if (status & MOVING) says.moving = true
  if (status & CHARGING) says.charging = true
  let satellites: number | undefined
  for (const { tag, value } of tlv(r, { tag: 1, length: 1 }))
    if (tag === SATELLITES && value.left > 0) satellites = value.u8()
    else if (tag === EXTENDED) extended(value, says)
    else if (tag === DRIVER) says.driver = driverIn(value)
    else VALUES[(tag << 8) | value.left]?.(value, says)
  return { satellites, said: said(says) }
}

/** The card that a reader passed through, behind three bytes (port, length); undefined of other content. */
export function cardIn(content: Buffer): Said | undefined {
  const card = CARD.exec(content.toString('latin1', 3))?.[1]
  return card === undefined ? undefined : said({ driver: card })
}

const CARD = /^GTSL\|\d+\|\d+\|\d+\|(\w+)\|/

/** What an OBD reader passed through, with the status behind it; undefined of other content. */
export function obdIn(content: Buffer): Said | undefined {
  if (content.length < OBD_HEAD || content[0] !== OBD) return undefined
  const r = new ByteReader(content).skip(OBD_HEAD)
  const kind = content[OBD_HEAD - 1]
  if (kind === OBD_VALUES && r.left > 0) return withStatus(r, obdValues(r))
  return kind === OBD_EVENT && r.left > 3 ? withStatus(r.skip(3), {}) : undefined
}

/** Bytes up to the kind of content. */
const OBD_HEAD = 10
const [OBD, OBD_VALUES, OBD_EVENT, OBD_SUPPLY] = [0xf0, 0x01, 0x03, 0x0530]

function obdValues(r: ByteReader): Says {
  const says: Says = {}
  for (let count = r.u8(); count > 0 && r.left >= 3; count--) {
    const name = r.u16()
    const value = r.part(Math.min(r.u8(), r.left))
    if (name === OBD_SUPPLY && value.left === 2) says.external_voltage = value.u16() / 1000
  }
  return says
}

function withStatus(r: ByteReader, says: Says): Said | undefined {
  if (r.left < 4) return said(says)
  const status = r.u32()
  if (status & CHARGING) says.charging = true
  return said({ ...says, ignition: (status & IGNITION) !== 0 })
}

function driverIn(value: ByteReader): string | undefined {
  const text = value.ascii(value.left).trim()
  return /^\w+$/.test(text) ? text : undefined
}

type Says = { -readonly [Key in keyof Said]: Said[Key] }

/** Bits of the status. */
const [IGNITION, MOVING, CHARGING] = [1, 1 << 22, 1 << 26]
const [SATELLITES, EXTENDED, DRIVER] = [0x31, 0xeb, 0xbd]

/** By bit. */
const ALARMS: readonly Alarm[] = Object.assign([], {
  0: 'sos',
  5: 'gps_antenna_cut',
  7: 'low_power',
  8: 'power_cut',
  15: 'low_battery',
  16: 'vibration',
  17: 'tampering',
  28: 'movement',
  29: 'accident',
} satisfies Record<number, Alarm>)

type Read = (value: ByteReader, says: Says) => void

const percent: Read = (value, says) => void (says.battery_percent = value.u8())
const batteryCentivolts: Read = (value, says) => void (says.battery_voltage = value.u16() / 100)
const supplyDecivolts: Read = (value, says) => void (says.external_voltage = value.u16() / 10)

/** By tag and length: tag × 256 + length. */
const VALUES: Readonly<Record<number, Read>> = {
  0x5602(value, says) {
    const [level, measured] = [value.u8(), value.u8()]
    says.battery_percent = measured >= 1 && measured <= 100 ? measured : level * 10
  },
  0x6011: (value, says) => void (says.driver = driverIn(value.skip(9))),
  0x6102: (value, says) => void (says.external_voltage = value.u16() / 100),
  0x6902: batteryCentivolts,
  0x8202: supplyDecivolts,
  0xd401: percent,
  0xd502: batteryCentivolts,
  0xe101: percent,
  0xe102: supplyDecivolts,
  0xe306(value, says) {
    const charge = value.u16()
    if (volts(value.u16() / 100, says)) says.battery_percent = charge
  },
  0xe402(value, says) {
    says.charging = value.u8() === 0
    says.battery_percent = value.u8()
  },
  0xe501: (value, says) => void (says.moving = value.u8() === 1),
  0xf104: (value, says) => void (says.external_voltage = value.u32() / 1000),
  0xf402: (value, says) => raise(says, value.u16(), [1 << 4, 'accident']),
  0xf604: (value, says) => void (says.charging = (value.skip(3).u8() & 3) === 1),
  0xf706(value, says) {
    says.battery_voltage = value.u32() / 1000
    says.charging = value.u8() === 2
    says.battery_percent = value.u8()
  },
  0xfe01: percent,
}

/** Takes what a voltage feeds the tracker with; returns whether that is its own battery. */
function volts(value: number, says: Says): boolean {
  const isBattery = value <= MOST_OF_BATTERY
  if (isBattery) says.battery_voltage = value
  else says.external_voltage = value
  return isBattery
}

const MOST_OF_BATTERY = 6

function extended(r: ByteReader, says: Says): void {
  for (const { tag, value } of tlv(r, { tag: 2, length: 2, order: 'length, tag', counted: 2 }))
    EXTENDED_VALUES[(tag << 8) | value.left]?.(value, says)
}

/** By tag and length: tag × 256 + length. */
const EXTENDED_VALUES: Readonly<Record<number, Read>> = {
  0x002d02: (value, says) => void volts(value.u16() / 1000, says),
  0x002d04: (value, says) => void volts(value.u32() / 1000, says),
  0x008904: (value, says) => raise(says, ~value.u32(), [1, 'power_off'], [1 << 12, 'tampering']),
  0x00a801: percent,
  0x00c504(value, says) {
    const bits = value.u32()
    raise(says, ~bits, [1 << 6, 'vibration'])
    const motion = (bits >>> 23) & 3
    if (motion < 2) says.moving = motion === 0
  },
  0x00e101: percent,
}

function raise(says: Says, bits: number, ...alarms: readonly (readonly [bit: number, alarm: Alarm])[]): void {
  says.alarms = alarmsOf(...(says.alarms ?? []), ...alarms.map(([bit, alarm]) => (bits & bit) !== 0 && alarm))
}
