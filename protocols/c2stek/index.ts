/*
 * C2STEK FL10, FL2000G. No specification is known: inferred from frames. TCP, text between PA$ and $AP:
 *
 *   PA$I$D#YYMMDD#hhmmss#F#Y#O#S#C#H#b#x#x[#i…]…$AP     position
 *   PA$I$20$AP                                heartbeat
 *
 *   b  battery, mV     i  1: ignition on
 *   I  IMEI     F  1: fixed     Y, O  decimal degrees     S  km/h     C  degrees     H  metres
 *
 * Answer to a heartbeat: the same.
 */
import { between, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'c2stek',
  devices: 'C2STEK FL10, FL2000G and others',
  port: 5181,
  frame: between('PA$', '$AP'),
  fields: {
    battery: { like: '\\d+', read: (text, draft) => draft.says({ battery_voltage: +text / 1000 }) },
  },
  lines: [
    {
      like: 'PA${imei}$D#{ymd}#{hhmmss}#{valid}#{lat}#{lon}#{speedKmh}#{course}#{altitude}#{battery}#{any}#{any}[#{ignition}{any}]$AP',
    },
    { like: 'PA${imei}$D#{ymd}#{hhmmss}#{valid}#{lat}#{lon}#{speedKmh}#{course}#{altitude}#{any}$AP' },
    { like: 'PA${imei}$20$AP', none: 'heartbeat', answer: 'PA${id}$20$AP' },
    { like: 'PA${imei}$D{any}', unknown: 'position' },
    { like: 'PA${imei}{any}', unknown: 'type' },
  ],
})
