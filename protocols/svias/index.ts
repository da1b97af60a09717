/*
 * SVIAS 100 and other trackers of SVIAS (Brazil). No specification is known: inferred from frames. TCP, text:
 *
 *   [v,h,n,I,m,DMMYY,hmmss,Y,O,S,C,o,i,x,x,x,u,b,…]
 *
 *   v, h  versions     I  id             D, h  without leading zeros         S  km/h × 100       o  odometer
 *   n     index        m  message 710    Y, O  ddmm.mmmmm × 100,000          C  degrees × 100    Answer: @
 *   i     inputs, bit 4: ignition     u  power, mV     b  battery, %
 */
import { between, type Draft, textProtocol } from '../kit/index.ts'

const at = (text: string, index: number) => +text.padStart(6, '0').slice(index, index + 2)

const PLACE = '\\[{any:3},{id},710,{date},{time},{latNmea/1e5},{lonNmea/1e5},{speedKmh/100},{course/100}'

export default textProtocol({
  name: 'svias',
  devices: 'SVIAS 100',
  acknowledges: 'fixes',
  port: 5168,
  frame: between('[', ']'),
  ends: ']',
  fields: {
    date: { like: '\\d{5,6}', read: readDate },
    time: { like: '\\d{1,6}', read: readTime },
    inputs: { like: '\\d+', read: (text: string, draft: Draft) => draft.says({ ignition: (+text & 16) !== 0 }) },
  },
  lines: [
    { like: `${PLACE},{any},{inputs},{any:3},{externalVolts/1000},{batteryPercent}[,{any}]`, answer: '@' },
    { like: `${PLACE}[,{any}]`, answer: '@' },
    { like: '\\[{any:3},{id},{any}', unknown: 'type' },
  ],
})

function readDate(text: string, draft: Draft): void {
  draft.day = at(text, 0)
  draft.month = at(text, 2)
  draft.year = 2000 + at(text, 4)
}

function readTime(text: string, draft: Draft): void {
  draft.clock = ((at(text, 0) * 60 + at(text, 2)) * 60 + at(text, 4)) * 1000
}
