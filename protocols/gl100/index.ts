/*
 * Queclink GL100, GL100M, GV100. "GL100 @Track Air Interface Protocol" V2.03 (Quectel) and "GT300 @Track Air Interface Protocol"
 * V4.00 (Novacom), TCP and UDP, text that ends with NUL:
 *
 *   +RESP:GTRRR,I,…,[v,S,C,H,q,O,Y,YYYYMMDDhhmmss,mcc,mnc,lac,cell,TA,]…n,version     reports with one position or several
 *   +RESP:GTRRR,I,YYYYMMDDhhmmss,n,version                                            PNA, PFA, PLA, BTC, STC: of the power
 *   AT+GTHBD=HeartBeat,I,YYYYMMDDhhmmss,n,version                                     heartbeat
 *
 *   R  report: SOS, MSA (fall), PFA and PLA are alarms     S  km/h; below 0: not known     H  metres
 *   I  IMEI       q  HDOP; 0: none                         C  degrees                      Y, O  decimal degrees
 *   v  1: fixed; 0: not now. Some frames have a good place with 0: it has no fix where q is 0 too (inferred from frames).
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
    report: { like: '[A-Z0-9]{3}', alarms: { SOS: 'sos', MSA: 'accident' } },
    power: { like: 'PNA|PFA|PLA|BTC|STC', alarms: { PFA: 'power_off', PLA: 'low_battery' } },
    source: { like: 'RESP|BUFF' },
    time: { like: '\\d{14}' },
    serial: { like: '[0-9A-Fa-f]{4}' },
    digit: { like: '\\d' },
    unfixed: { like: '0', read: (_, draft: Draft) => void (draft.valid = false) },
    none: { like: '0' },
  },
  lines: [
    {
      like: '+{source}:GT{report},{imei},{any}|{records}',
      fixes: {
        split: '|',
        like: [
          '{report}{unfixed},{speedKmh},{course},{altitude},{none},{lon},{lat},{yyyymmdd}{hhmmss},{any}',
          '{report}{digit},{speedKmh},{course},{altitude},{hdop},{lon},{lat},{yyyymmdd}{hhmmss},{any}',
        ],
      },
    },
    {
      like: 'AT+GTHBD=HeartBeat,{imei},{time},{serial}[,{any}]',
      none: 'heartbeat',
      answer: '+RESP:GTHBD,GPRS ACTIVE,HeartBeat,{imei},{time},{serial}\0',
    },
    { like: '+ACK:{any},{imei},{any}', none: 'command answer' },
    { like: '+{source}:GT{power},{imei},{any}', none: 'power' },
    { like: '+{source}:GT{report},{imei},{any:4},,,,,{any}', none: 'no place' },
    { like: '+{source}:GT{report},{imei},{any}', unknown: 'type' },
  ],
})
