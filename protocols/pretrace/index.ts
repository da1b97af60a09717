/*
 * Pretrace TC55, TC65 and clones. No specification is known: inferred from frames. TCP, fields of fixed width in parentheses:
 *
 *   (IIIIIIIIIIIIIIIUttttAYYMMDDhhmmssYYYYYYYYNOOOOOOOOOESSSCCCHHHoooooooosPPgg…,&…^XX)
 *
 *   I  IMEI                  Y, O  ddmm.mmmm, dddmm.mmmm     C  degrees           o  odometer
 *   t  kind of report        S  km/h                         s  satellites        P  HDOP × 10
 *   A  A: valid, V: not      H  altitude, hexadecimal        X  digits of a sum that is not known
 *
 * Parts behind &: P1 and three hexadecimal digits: battery, 0.01 V; P1 and a number with %: its charge; R, two digits
 * and eight hexadecimal ones: the card of the driver. Nothing is answered.
 */
import { between, type Draft, textProtocol } from '../kit/index.ts'

const hex = (text: string) => Number.parseInt(text, 16)

export default textProtocol({
  name: 'pretrace',
  devices: 'Pretrace TC55, TC65',
  integrity: { none: 'which sum the two digits at the end are is not known' },
  port: 5133,
  frame: between('(', ')'),
  fields: {
    imei: { like: '\\d{15}' },
    kind: { like: '[0-9A-F]{4}' },
    height: { like: '[0-9A-F]{3}', read: (text: string, draft: Draft) => void (draft.altitude = hex(text)) },
    odometer: { like: '[0-9A-F]{8}' },
    seen: { like: '[0-9A-F]', read: (text: string, draft: Draft) => void (draft.satellites = hex(text)) },
    rest: { read: readRest },
    error: { like: '[0-9]{2}', read: (text: string, draft: Draft) => void (draft.hdop = +text / 10 || undefined) },
  },
  lines: [
    {
      like: '({imei}U{kind}{valid}{ymd}{hhmmss}{latNmea:9}{ns}{lonNmea:10}{ew}{speedKmh:3}{course:3}{height}{odometer}{seen}{error}{rest}',
    },
    { like: '({imei}{any}', unknown: 'type' },
  ],
})

function readRest(text: string, draft: Draft): void {
  for (const part of text.split(/[&,^]/)) {
    const [, volts, percent, driver] = PART.exec(part) ?? []
    if (volts !== undefined) draft.says({ battery_voltage: hex(volts) / 100 })
    if (percent !== undefined) draft.says({ battery_percent: +percent })
    if (driver !== undefined) draft.says({ driver })
  }
}

const PART = /^(?:P1([0-9A-F]{3})|P1(\d{1,3})%|R\d\d([0-9A-F]{8}))$/
