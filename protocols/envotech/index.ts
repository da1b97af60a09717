/*
 * Envotech trackers. No specification is known: inferred from frames. TCP, text between $ and #:
 *
 *   $80mmm,e,x,I,DDMMYYhhmmss,x,uuubbb,…'DDMMYYhhmmssfYYYYYYYNOOOOOOOOESSSCCC[@…]*XX#
 *
 *   m  model     I  id                    Y, O  degrees × 100,000     C  degrees     u, b  power, 0.1 V; battery, 0.01 V
 *   e  event     f  1: fixed              S     knots                 X  a sum that is not known
 *
 * The first time is that of the report, the second one that of the fix. Nothing is answered.
 */
import { between, type Draft, textProtocol } from '../kit/index.ts'

const PLACE = '{dmy}{hhmmss}{fixed}{lat:7/1e5}{ns}{lon:8/1e5}{ew}{speedKnots:3}{course:3}{any}'

export default textProtocol({
  name: 'envotech',
  devices: 'Envotech trackers',
  integrity: { none: 'which sum the digits at the end are is not known' },
  port: 5240,
  frame: between('$', '#'),
  ends: '#',
  fields: {
    model: { like: '[A-Z]{3}' },
    fixed: { like: '\\d', read: (text: string, draft: Draft) => void (draft.valid = text === '1') },
  },
  lines: [
    {
      like: `$80{model},{any:2},{id},{any:2},{externalVolts:3/10}{batteryVolts:3/100},{any}'${PLACE}`,
    },
    {
      like: `$80{model},{any:2},{id},{any}'${PLACE}`,
    },
    { like: '${any},{any:2},{id},{any}', unknown: 'type' },
  ],
})
