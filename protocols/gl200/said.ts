/*
 * What reports say beside the position, by the @Track manuals (GTINF: GL300 1.02, GTBAT: GV200); where models differ,
 * as their frames show:
 *
 *   FRI, ERI  of vehicles: [mask], mV, two digits of type, count, places, …, backup battery %, six digits of state, …
 *             of others: …, battery %, [what follows by model]; of models 42: id, type, moves, is charged, count, places
 *   INF       state, ICCID, signal, error rate, external power, mV, x, battery V, is charged, …
 *   BAT       has main power, x, is on battery (or battery %), battery V, is charged, …
 *   CTN, STR  id, type, motion, temperature, battery %, place
 *   CAN       type, state, mask, VIN, ignition key: 0 off, 1 on, 2 engine on
 *   BPL       battery V     IDA  …, driver     WIF, RTL, NMR  …, battery %     NMR  id, 1: moves     STT  state
 *
 * The first two digits of a state: 11, 12 ignition off, 21, 22 on, 41, 42 no ignition; 1 rests, 2 moves; 16 towed, 1A perhaps.
 * Models 1F, 2D, 36, 56 and 5E (GV500 …) send the VIN in front of the name. That 1 in IGL is "ignition off" follows from frames: it
 * comes seconds after IGF.
 */
import { type Alarm, type Said, said } from '../kit/index.ts'

/** What a report says beside the position. `fields` are those of the whole frame: its type and IMEI first, its count last. */
export function saidBy(type: string, fields: readonly string[]): Said | undefined {
  const read = READ[type]?.(WITH_VIN.has(fields[1].slice(0, 2)) ? fields.toSpliced(3, 1) : fields)
  const alarm = ALARMS[type]
  if (alarm) return said({ ...read, alarms: [alarm] })
  return read && said(read)
}

/** Models, by the first two digits of the version, that send the VIN between IMEI and name. */
const WITH_VIN = new Set(['1F', '2D', '36', '56', '5E'])

const ALARMS: Readonly<Record<string, Alarm | undefined>> = {
  SOS: 'sos',
  MPN: 'power_restored',
  EPN: 'power_restored',
  MPF: 'power_cut',
  EPF: 'power_cut',
  PFA: 'power_off',
  PFR: 'power_off',
  BPL: 'low_battery',
  TOW: 'tow',
  JDR: 'jamming',
  CRA: 'accident',
}

const READ: Readonly<Record<string, ((fields: readonly string[]) => Said) | undefined>> = {
  FRI: regular,
  ERI: regular,
  RTL: lastBattery,
  WIF: lastBattery,
  NMR: (fields) => ({ ...lastBattery(fields), moving: flag(fields[5]) }),
  CTN: batteryBeforePlace,
  STR: batteryBeforePlace,
  INF: information,
  BAT: (fields) => ({ battery_voltage: volts(fields[7]), charging: flag(fields[8]) }),
  IGN: () => ({ ignition: true }),
  VGN: () => ({ ignition: true }),
  IGF: () => ({ ignition: false }),
  VGF: () => ({ ignition: false }),
  IGL: (fields) => ({ ignition: IGNITION_OF_TYPE[fields[5]] }),
  VGL: (fields) => ({ ignition: IGNITION_OF_TYPE[fields[5]] }),
  STT: (fields) => ({ ...stateOf(fields[4]), alarms: fields[4] === TOWED ? ['tow'] : [] }),
  JDS: (fields) => ({ alarms: fields[4] === '2' ? ['jamming'] : [] }),
  BPL: (fields) => ({ battery_voltage: volts(fields[4]) }),
  BTC: () => ({ charging: true }),
  STC: () => ({ charging: false }),
  IDA: (fields) => ({ driver: DRIVER.test(fields[5]) ? fields[5] : undefined }),
  CAN: ({ 6: mask, 8: key }) => ({ ignition: HAS_KEY.test(mask) && KEY.test(key) ? key !== '0' : undefined }),
}

const IGNITION_OF_TYPE: Readonly<Record<string, boolean | undefined>> = { '00': true, '01': false }
const MASK = /^[\dA-F]{8}$/
const MILLIVOLTS = /^\d{1,5}$/
const VOLTS = /^\d\.\d+$/
const PERCENT = /^(?:\d|[1-9]\d|100)$/
const COUNT = /^\d\d?$/
const TYPE_OF_VEHICLE = /^\d\d$/
const DRIVER = /^[\dA-Fa-f]{8,20}$/
/** A mask whose two lowest bits are set: VIN and ignition key are there. */
const HAS_KEY = /[37BF]$/
const KEY = /^[012]$/

/** The state of a device in motion, with or without what stands behind it. */
const STATE = /^(?:1[126A]|2[12]|4[12])(?:[\dA-F]{4}|[\dA-F]{8})$/
const STATES: Readonly<Record<string, Said | undefined>> = {
  '11': { ignition: false, moving: false },
  '12': { ignition: false, moving: true },
  '16': { ignition: false, moving: true },
  '1A': { ignition: false },
  '21': { ignition: true, moving: false },
  '22': { ignition: true, moving: true },
  '41': { moving: false },
  '42': { moving: true },
}
const TOWED = '16'
const stateOf = (digits = ''): Said => STATES[digits.slice(0, 2)] ?? {}

function regular(fields: readonly string[]): Said {
  const at = MASK.test(fields[4]) ? 5 : 4
  if (fields[1].startsWith(GL320M))
    return { battery_percent: percent(fields[at + 3 + FIELDS_OF_PLACE * Number(fields[at + 2])]) }
  if (!TYPE_OF_VEHICLE.test(fields[at + 1])) return { ...lastBattery(fields), ...ofModel42(fields) }
  const external_voltage = fields[1].startsWith(GV200) ? undefined : millivolts(fields[at])
  const count = fields[at + 2]
  const state = COUNT.test(count) ? stateIn(fields, at + 2 + FIELDS_OF_PLACE * Number(count)) : undefined
  // Of a model with a battery alone, 0 is the id of the report.
  if (state === undefined) return external_voltage === 0 ? lastBattery(fields) : { external_voltage }
  const { ignition, moving } = stateOf(fields[state])
  return { ignition, moving, external_voltage, battery_percent: percent(fields[state - 1]) }
}

/** The first digits of the version of a model that sends the voltage of an analogue input in place of that of its supply. */
const GV200 = '04'
/** The first digits of the version of the GL320M. Its battery stands behind its last place; what follows differs by version and mask. */
const GL320M = 'C3'
/** The fields from the HDOP of one place to that of the next. */
const FIELDS_OF_PLACE = 12

/** The index of the first field from `start` on that is a state; undefined if there is none. */
function stateIn(fields: readonly string[], start: number): number | undefined {
  for (let at = start; at < fields.length; at++) {
    if ((fields[at].length === 6 || fields[at].length === 10) && STATE.test(fields[at])) return at
  }
  return undefined
}

/** Which field from the end is the battery, by the first two digits of the version: what differs from the third. */
const BATTERY_FROM_END: Readonly<Record<string, number | undefined>> = { DE: 6 }

function lastBattery(fields: readonly string[]): Said {
  const fromEnd = BATTERY_FROM_END[fields[1].slice(0, 2)] ?? 3
  return { battery_percent: percent(fields[fields.length - fromEnd]) }
}

function ofModel42(fields: readonly string[]): Said {
  return fields[1].startsWith('42') && COUNT.test(fields[8])
    ? { moving: flag(fields[6]), charging: flag(fields[7]) }
    : {}
}

function batteryBeforePlace(fields: readonly string[]): Said {
  return { battery_percent: percent(fields[8]) }
}

function information(fields: readonly string[]): Said {
  const [state, external_voltage, battery_voltage] = [stateOf(fields[4]), millivolts(fields[9]), volts(fields[11])]
  const charging = battery_voltage === undefined ? undefined : flag(fields[12])
  return { ...state, external_voltage, battery_voltage, charging }
}

const millivolts = (text = '') => (MILLIVOLTS.test(text) ? Number(text) / 1000 : undefined)
const volts = (text = '') => (VOLTS.test(text) ? Number(text) : undefined)
const percent = (text = '') => (PERCENT.test(text) ? Number(text) : undefined)
const flag = (text = '') => (text === '1' ? true : text === '0' ? false : undefined)
