/*
 * Mictrack MT510, MT700, MT821, MT825, MT600. No specification was found: inferred from frames. TCP and UDP, text without an end:
 *
 *   MT;n;I;R0;s+YYMMDDhhmmss+Y+O+S+C+e+b+…             position; Y0: from memory
 *   MT;n;I;Rx;YYMMDDhhmmss+…+e+b+…                     R1: wifi   R2: cells   RH: heartbeat; no fix
 *   I$hhmmss.ss,A,Y,N,O,E,S,C,H,DDMMYY[$…]             positions of the MT600
 *
 *   I  IMEI           Y, O  decimal degrees, ddmm.mmmm of the MT600     S  km/h: MT, knots: MT600     H  metres
 *   s  satellites     A  A: valid, V: not                               C  degrees                   e  event     b  battery, mV
 *
 * Nothing is answered.
 */
import { textProtocol, whole } from '../kit/index.ts'

const HEAD = 'MT;{number};{imei};'

export default textProtocol({
  name: 'mictrack',
  devices: 'Mictrack MT510, MT600, MT700, MT821, MT825',
  port: 5191,
  transports: ['tcp', 'udp'],
  frame: whole,
  fields: {
    number: { like: '\\d+' },
    battery: { read: (text, draft) => /^\d{4}$/.test(text) && draft.says({ battery_voltage: +text / 1000 }) },
    gps: { like: '[RY]0' },
    wifi: { like: 'Y1|R1' },
    cells: { like: 'Y2|R2' },
    both: { like: 'Y3|R3' },
  },
  lines: [
    { like: `${HEAD}{gps};{satellites}+{ymd}{hhmmss}+{lat}+{lon}+{speedKmh}+{course}[+{any}[+{battery}[+{any}]]]` },
    { like: `${HEAD}{wifi};{any}+{any}+{any}+{battery}[+{any}]`, none: 'wifi' },
    { like: `${HEAD}{wifi};{any}`, none: 'wifi' },
    { like: `${HEAD}{cells};{any}+{any}+{any}+{battery}[+{any}]`, none: 'cells' },
    { like: `${HEAD}{cells};{any}`, none: 'cells' },
    { like: `${HEAD}{both};{any}`, none: 'wifi' },
    { like: `${HEAD}RH;{any}+{any:6}+{battery}[+{any}]`, none: 'heartbeat' },
    { like: `${HEAD}RH;{any}`, none: 'heartbeat' },
    { like: `${HEAD}{any}`, unknown: 'type' },
    { like: 'mode={any}', none: 'command answer' },
    {
      like: '{imei}${records}',
      fixes: {
        split: '$',
        like: '{hms},{valid},{latNmea},[{ns}],{lonNmea},[{ew}],{speedKnots},{course},{altitude},{dmy}[,{any}]',
      },
    },
    { like: '{imei}{any}', unknown: 'type' },
  ],
})
