/*
 * Vehicle location tracking devices of India: AIS 140 ("Intelligent Transportation Systems", Automotive Industry Standard 140)
 * for the fields; the HTTP frames are inferred. HTTP POST of a form, 200 acknowledges:
 *
 *   vltdata=KKKIIIIIIIIIIIIIIIrecord            K  NRM, EMR, CRT …: one record;  BTH: three digits, how many follow, then those
 *   record  aaRfDDMMYYhhmmssAAA.AAAAAANOOO.OOOOOOEmmmnnnlllliiiiiiiiiSSS.SSHHH.HHsspprrgvV
 *
 *   I  IMEI              D, h  UTC               m n l i  cell             s  satellites      r  signal
 *   a  alert             A, O  degrees           S  km/h                   p  HDOP            g, v  ignition, power
 *   R  L live, H stored  N, E  hemispheres       H  degrees                f  1: fix          V  M, S: moving, standing
 *
 *   HLM  health, LGN  login, ACK  answer to a command: no position
 */
import {
  type Alarm,
  DecodeError,
  dop,
  eachReadable,
  enveloped,
  type Fix,
  type HttpRequest,
  heading,
  kmh,
  type Message,
  number,
  type Protocol,
  parametersOf,
  said,
  utcDmy,
} from '../kit/index.ts'

export default {
  name: 'vlt',
  devices: 'AIS 140 vehicle location tracking devices that report over HTTP',
  acknowledges: 'fixes',
  http: { port: 5246 },
  request,
} satisfies Protocol

const WITHOUT_POSITION = new Map([
  ['HLM', 'status'],
  ['LGN', 'login'],
  ['ACK', 'command answer'],
])
const LENGTH = 78
const RECORD =
  /^(\d\d)[LH]([01])(\d{6})(\d{6})(\d{3}\.\d{6})([NS])(\d{3}\.\d{6})([EW]).{19}(\d{3}\.\d\d)(\d{3}\.\d\d)(\d\d)(\d\d)(?:\d\d([01])[01]([MS]))?/

function request(report: HttpRequest): Message {
  const text = parametersOf(report).get('vltdata') ?? ''
  const [, kind, device, rest] = /^([A-Z]{3})(\d{15})(.*)$/s.exec(text) ?? []
  if (kind === undefined) throw new DecodeError('malformed', 'vltdata has no kind and IMEI')
  const none = WITHOUT_POSITION.get(kind)
  if (none !== undefined) return { device, none }
  const records = kind === 'BTH' ? rest.slice(3) : rest.slice(0, LENGTH)
  const entries = records.match(/.{60,78}/gs) ?? []
  if (entries.length === 0)
    return kind === 'BTH' && rest === '000' ? { device, none: 'no place' } : { device, fixes: [] }
  return enveloped({ device }, () => {
    const { good, unreadable } = eachReadable(entries, fixOf)
    return { fixes: good, unreadable }
  })
}

/** Alerts of AIS 140, table 4: vehicle battery cut and back, battery low, box opened, emergency, wire of its button cut. */
const ALERTS = new Map<string, Alarm>([
  ['03', 'power_cut'],
  ['04', 'low_battery'],
  ['06', 'power_restored'],
  ['09', 'tampering'],
  ['10', 'sos'],
  ['16', 'tampering'],
])

function fixOf(record: string): Fix {
  const match = RECORD.exec(record)
  if (!match) throw new DecodeError('malformed', `"${record.slice(0, 40)}" is no record`)
  const [, alert, valid, date, time, latitude, north, longitude, east, speed, course, satellites, hdop, acc, motion] =
    match
  const alarm = ALERTS.get(alert)
  return {
    time: utcDmy(date, time),
    latitude: number(latitude) * (north === 'S' ? -1 : 1),
    longitude: number(longitude) * (east === 'W' ? -1 : 1),
    valid: valid === '1',
    speed: kmh(number(speed)),
    heading: heading(number(course)),
    hdop: dop(number(hdop)),
    satellites: number(satellites),
    said: said({
      ignition: acc === undefined ? undefined : acc === '1',
      moving: motion === undefined ? undefined : motion === 'M',
      alarms: alarm === undefined ? [] : [alarm],
    }),
  }
}
