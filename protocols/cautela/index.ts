/*
 * Cautela trackers. No specification is known: inferred from one frame. TCP, lines:
 *
 *   t,I,DD,MM,YY,Y,O,hhmm,…,*XX
 *
 *   I  id     Y, O  decimal degrees     X  a sum that is not known
 *
 * Nothing is answered.
 */
import { textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'cautela',
  devices: 'Cautela trackers',
  integrity: { none: 'which sum the two digits at the end are is not known' },
  port: 5160,
  fields: { type: { like: '\\d+' }, id: { like: '\\d+' } },
  lines: [
    { like: '{type},{id},{day},{month},{yy},{lat},{lon},{hhmm},{any}' },
    { like: '{type},{id},{any}', unknown: 'type' },
  ],
})
