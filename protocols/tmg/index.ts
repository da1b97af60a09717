/*
 * TMG trackers (India). No specification is known: inferred from frames. TCP, text that begins with $:
 *
 *   $kkk,L,I,DDMMYYYY,hhmmss,f,Y,N,O,E,S,C,H,P,s,x,x,x,x,i,b,e,…  L  L: live, H: from memory
 *   $kkk,I,DDMMYYYY,hhmmss,f,Y,N,O,E,S,C,x,x,s,x,i,…      other firmware: bak, loc
 *
 *   k  kind of report     f  1, 4: fixed, 0: not     S  km/h        H  metres     s  satellites
 *   I  IMEI               Y, O  ddmm.mmmm            C  degrees     P  HDOP
 *   i  1: ignition on     b, e  battery, external, V     The kind ebl is a low external voltage.
 *
 * Nothing is answered.
 */
import { between, type Draft, textProtocol } from '../kit/index.ts'

const PLACE = '{ddmmyyyy},{hhmmss},{fixed},{latNmea},{ns},{lonNmea},{ew},{speedKmh},{course}'

export default textProtocol({
  name: 'tmg',
  devices: 'TMG trackers',
  port: 5132,
  frame: between('$', ['\n', '\0', '#']),
  ends: '#',
  fields: {
    kind: { like: '[A-Za-z0-9]{2,5}', alarms: { ebl: 'low_power', sos: 'sos' } },
    live: { like: '[LH]' },
    fixed: { like: '\\d', read: (text: string, draft: Draft) => void (draft.valid = text !== '0') },
  },
  lines: [
    {
      like: `\${kind},{live},{imei},${PLACE},{altitude},{hdop},{satellites},{any:4},[{ignition}],{batteryVolts},{externalVolts},{any}`,
    },
    { like: `\${kind},{live},{imei},${PLACE},{altitude},{hdop},{satellites},{any}` },
    { like: `\${kind},{imei},${PLACE},{any:2},{satellites},{any},{ignition},{any}` },
    { like: `\${kind},{imei},${PLACE},{any:2},{satellites},{any}` },
    { like: '${kind},[{live},]{imei},{any}', unknown: 'type' },
    { like: '${any}', unknown: 'type' },
  ],
})
