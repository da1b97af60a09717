/*
 * Queclink GL100, GL100M, GV100. "GL100 @Track Air Interface Protocol", TCP and UDP, text that ends with NUL:
 *
 *   +RESP:GTRRR,I,…,[v,S,C,H,q,O,Y,YYYYMMDDhhmmss,mcc,mnc,lac,cell,TA,]…n,version     reports with one position or several; GTSOS: an alarm
 *   AT+GTHBD=HeartBeat,I,YYYYMMDDhhmmss,n,version                                     heartbeat
 *
 *   R  report     v  0: fixed     S  knots     H  metres
 *   I  IMEI       q  HDOP         C  degrees     Y, O  decimal degrees
 *
 *   Answer to a heartbeat: +RESP:GTHBD,GPRS ACTIVE,HeartBeat,I,YYYYMMDDhhmmss,n
 */
import { type Draft, endsWith, textProtocol } from '../kit/index.ts'

/** Up to the time of a position, from its validity on. */
const POSITION = /,(\d,[^,]{0,20},[^,]{0,20},[^,]{0,20},[^,]{0,20},-?\d+\.\d+,-?\d+\.\d+,\d{14},)/g

/** Where the name of the report stands: +RESP:GTRRR. */
const REPORT = 8

export default textProtocol({
  name: 'gl100',
  devices: 'Queclink GL100, GL100M, GV100',
  acknowledges: 'some',
  port: 5003,
  transports: ['tcp', 'udp'],
  frame: endsWith('\0'),
  // Each position begins with the report's name, which stands in front of the first alone.
  before: (text) => text.replace(POSITION, `|${text.slice(REPORT, REPORT + 3)}$1`),
  fields: {
    report: { like: '[A-Z0-9]{3}', alarms: { SOS: 'sos' } },
    source: { like: 'RESP|BUFF' },
    time: { like: '\\d{14}' },
    serial: { like: '[0-9A-Fa-f]{4}' },
    fixed: { like: '\\d', read: (text: string, draft: Draft) => void (draft.valid = text === '0') },
  },
  lines: [
    {
      like: '+{source}:GT{report},{imei},{any}|{records}',
      fixes: {
        split: '|',
        like: '{report}{fixed},{speedKnots},{course},{altitude},{hdop},{lon},{lat},{yyyymmdd}{hhmmss},{any}',
      },
    },
    {
      like: 'AT+GTHBD=HeartBeat,{imei},{time},{serial}[,{any}]',
      none: 'heartbeat',
      answer: '+RESP:GTHBD,GPRS ACTIVE,HeartBeat,{imei},{time},{serial}\0',
    },
    { like: '+ACK:{any},{imei},{any}', none: 'command answer' },
    { like: '+{source}:GT{report},{imei},{any:4},,,,,{any}', none: 'no place' },
    { like: '+{source}:GT{report},{imei},{any}', unknown: 'type' },
  ],
})
