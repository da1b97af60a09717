/*
 * IO elements that say something beside the position: "FMB AVL ID" and those of other models (wiki.teltonika-gps.com). Without
 * a model an id means what it means in most of them.
 *
 *   1 byte   239 ignition   240 movement   113 battery, %   116 charger connected
 *            236 SOS   246 towing   247 crash   249 jamming   252 unplugged: 0 means that it is not so, or not any more
 *   2 bytes  66 external voltage, mV       67 battery voltage, mV
 *   8 bytes  78 iButton    207 RFID        the driver, as hexadecimal digits
 */
import { type Alarm, alarmsOf, type Said } from '../kit/index.ts'

/** Elements of one size in a record: n from an index on, with ids of some width. */
interface Group {
  readonly bytes: Buffer
  readonly at: number
  readonly n: number
  readonly idWidth: 1 | 2
}

/** 1 of the ids that `withElement` knows: most elements are others. */
export const SPEAKING = new Uint8Array(256)
for (const id of [66, 67, 113, 116, 236, 239, 240, 246, 247, 249, 252]) SPEAKING[id] = 1

/** What an element that is a number says, with what those before it said. Most say nothing, so nothing is made before one does. */
export function withElement(id: number, value: number, said: Said | undefined): Said | undefined {
  switch (id) {
    case 66:
      if (value === UNKNOWN) break
      said ??= {}
      said.external_voltage = value / 1000
      break
    case 67:
      if (value === UNKNOWN) break
      said ??= {}
      said.battery_voltage = value / 1000
      break
    case 113:
      if (value > 100) break
      said ??= {}
      said.battery_percent = value
      break
    case 116:
      said ??= {}
      said.charging = value > 0
      break
    case 239:
      said ??= {}
      said.ignition = value > 0
      break
    case 240:
      said ??= {}
      said.moving = value > 0
      break
    case 236:
    case 246:
    case 247:
    case 249:
    case 252:
      if (value > 0) return { ...said, alarms: alarmsOf(...(said?.alarms ?? []), ALARMS[id]) }
  }
  return said
}

/** Of a voltage. */
const UNKNOWN = 0xffff

/** The same of elements of 1 byte. */
export function withShort({ bytes, at, n, idWidth }: Group): Said | undefined {
  const step = idWidth + 1
  let said: Said | undefined
  for (let value = at + idWidth; n > 0; n--, value += step) {
    const id = idWidth === 1 ? bytes[value - 1] : (bytes[value - 2] << 8) | bytes[value - 1]
    if (SPEAKING[id] === 1) said = withElement(id, bytes[value], said)
  }
  return said
}

/** The same of elements of 8 bytes: those of drivers. */
export function withDrivers({ bytes, at, n, idWidth }: Group, said: Said | undefined): Said | undefined {
  const step = idWidth + 8
  for (let value = at + idWidth; n > 0; n--, value += step) {
    const isShort = idWidth === 1 || bytes[value - 2] === 0
    if (isShort && isDriver(bytes[value - 1]) && !isZero(bytes, value))
      said = withDriver(bytes.toString('hex', value, value + 8), said)
  }
  return said
}

/** The same with a driver; an id of zeros is nobody. */
export function withDriver(driver: string, said: Said | undefined): Said | undefined {
  return NOBODY.test(driver) ? said : { ...said, driver }
}

const NOBODY = /^0*$/

const isZero = (bytes: Buffer, at: number) => (bytes.readUInt32BE(at) | bytes.readUInt32BE(at + 4)) === 0

const ALARMS: Readonly<Record<number, Alarm>> = {
  236: 'sos',
  246: 'tow',
  247: 'accident',
  249: 'jamming',
  252: 'power_cut',
}

/** Whether an element holds the id of a driver. */
export const isDriver = (id: number): boolean => id === 78 || id === 207
