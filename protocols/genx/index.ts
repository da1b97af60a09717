/*
 * GenX Mobile GNX-5, GNX-6. No specification is known: inferred from frames. A line a report, of fields with commas between.
 *
 * Which field is which, the device's own configuration says: the columns of its report, by their numbers. The entry of the
 * device repeats them: `settings: { reportColumns: [28, 2, 3, 4, 13, 17] }`. All known reports begin with id, time, latitude,
 * longitude; without the setting nothing behind these is read. Nothing is answered.
 *
 *   1, 28  id           3, 4  latitude, longitude, degrees     17  heading          46  satellites     11  ignition: ON, OFF
 *   2      MM/DD/YYYY   13    speed, km/h                      27  altitude, feet
 *          hh:mm:ss
 */
import {
  DecodeError,
  heading,
  kmh,
  known,
  line,
  type Message,
  number,
  optionalNumber,
  type Protocol,
  type Session,
  type Settings,
  trimEnd,
  utc,
} from '../kit/index.ts'

export default {
  name: 'genx',
  devices: 'GenX Mobile GNX-5, GNX-6',
  tcp: { port: 5148, frame: line },
  decode,
} satisfies Protocol

const USUAL = [1, 2, 3, 4]
const ID = [1, 28]
const TIME = [2]
const LATITUDE = [3]
const LONGITUDE = [4]
const SPEED = [13]
const HEADING = [17]
const ALTITUDE = [27]
const SATELLITES = [46]
const IGNITION = [11]
const FOOT = 0.3048

function decode(frame: Buffer, session: Session): Message {
  const fields = trimEnd(frame).toString('latin1').split(',')
  const columns = columnsOf(session.settingsOf(fields[0]))
  const text = (numbers: readonly number[]) => fields[columns.findIndex((column) => numbers.includes(column))]
  const angle = (numbers: readonly number[]) => {
    const field = text(numbers)
    return field ? number(field) : undefined
  }
  const value = (numbers: readonly number[]) => optionalNumber(text(numbers))
  const device = text(ID)
  if (!device || fields.length < 4) throw new DecodeError('unsupported', 'the frame has no id')
  const latitude = angle(LATITUDE)
  const longitude = angle(LONGITUDE)
  if (latitude === undefined || longitude === undefined) return { device, none: 'no place' }
  const speed = known(value(SPEED))
  const feet = value(ALTITUDE)
  const ignition = text(IGNITION)
  const fix = {
    time: timeOf(text(TIME) ?? ''),
    latitude,
    longitude,
    valid: true,
    altitude: feet === undefined ? undefined : feet * FOOT,
    speed: speed === undefined ? undefined : kmh(speed),
    heading: heading(value(HEADING)),
    satellites: value(SATELLITES),
    said: ignition === 'ON' || ignition === 'OFF' ? { ignition: ignition === 'ON' } : undefined,
  }
  return { device, fixes: [fix] }
}

/** The numbers of the columns, of a list or of text like '[1, 2, 3]'. */
function columnsOf({ reportColumns }: Settings): readonly number[] {
  if (Array.isArray(reportColumns)) return reportColumns.map(Number)
  return typeof reportColumns === 'string' ? (reportColumns.match(/\d+/g) ?? []).map(Number) : USUAL
}

function timeOf(text: string): number {
  const [, month, day, year, hour, minute, second] = /^(\d\d)\/(\d\d)\/(\d{4}) (\d\d):(\d\d):(\d\d)$/.exec(text) ?? []
  if (!second) throw new DecodeError('malformed', `"${text.slice(0, 40)}" is not a time`)
  return utc(+year, +month, +day, +hour, +minute, +second)
}
