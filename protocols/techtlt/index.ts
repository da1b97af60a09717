/*
 * Techtlt trackers (Italy). No specification is known: inferred from frames. UDP, a line a datagram:
 *
 *   I*POS=f,hh:mm:ss,DD/MM/YY,ddmm.mmmmN,dddmm.mmmmE,S,C,H,s,cells     position
 *   I,INFOGPRS,V Bat=V,…                                               state of the device
 *
 *   I  id     f  Y: fixed, N: not     S  km/h     C  degrees     H  metres     s  satellites
 *   V  volts of the vehicle's battery
 *
 * Nothing is answered.
 */
import { type Draft, textProtocol, whole } from '../kit/index.ts'

const TIME = '{hour}:{minute}:{second},{day}/{month}/{yy}'

export default textProtocol({
  name: 'techtlt',
  devices: 'Techtlt trackers',
  port: 5189,
  transports: ['udp'],
  frame: whole,
  fields: {
    id: { like: '\\d+' },
    fixed: { like: '[YN]', read: (text: string, draft: Draft) => void (draft.valid = text === 'Y') },
  },
  lines: [
    {
      like: `{id}*POS={fixed},${TIME},{latNmea}{ns},{lonNmea}{ew},{speedKmh},{course},{altitude},{satellites}[,{any}]`,
    },
    { like: '{id},INFOGPRS[,V Bat={externalVolts}],{any}', none: 'status' },
    { like: '{id},INFOGPRS{any}', none: 'status' },
    { like: '{id}*{any}', unknown: 'type' },
  ],
})
