/*
 * RST-MINI and other trackers of RST (Brazil). No specification is known: inferred from frames. UDP, text:
 *
 *   RST;k;m;v;I;n;t;DD-MM-YYYY hh:mm:ss;DD-MM-YYYY hh:mm:ss;Y;O;S;C;H;f;s;P;x;b;x;x;x;V;B;…;FIM;     position
 *   RST;k;m;v;I;n;t;…;FIM;                                                             other reports
 *
 *   k  L: live, A: from memory   n  index           Y, O  decimal degrees   H  metres          P  HDOP
 *   m, v  model, version         t  kind of report  S     km/h              f  1: fixed
 *   I  id                        the second time is that of the fix         s  satellites
 *   b  hexadecimal, bit 7: ignition     V, B  external power, own battery, V     D  the driver's card, behind six fields, of t 55
 *
 *   Answer to all: RST;A;m;v;I;n;6;FIM;
 */
import { type Draft, textProtocol, whole } from '../kit/index.ts'

const HEAD = 'RST;{kind};{model};{version};{id};{index};'
const ANSWER = 'RST;A;{model};{version};{id};{index};6;FIM;'

const PLACE =
  '{any};{day}-{month}-{yyyy} {hour}:{minute}:{second};{lat};{lon};{speedKmh};{course};{altitude};{valid};{satellites};{hdop};'
const STATE = '{any};{bits};{any:3};{externalVolts};{batteryVolts}'

export default textProtocol({
  name: 'rst',
  devices: 'RST-MINI 4G, RST-MINIv2, RST-MINIv5',
  acknowledges: 'fixes',
  port: 5196,
  transports: ['udp'],
  frame: whole,
  fields: {
    kind: { like: '[A-Z]' },
    model: {},
    version: {},
    index: { like: '\\d+' },
    bits: { like: '[\\dA-F]{2}', read: readBits },
  },
  lines: [
    { like: `${HEAD}55;${PLACE}${STATE};{any:6};{driver};{any}`, answer: ANSWER },
    { like: `${HEAD}{any};${PLACE}${STATE}[;{any}]`, answer: ANSWER },
    {
      like: `${HEAD}{any:2};{day}-{month}-{yyyy} {hour}:{minute}:{second};{lat};{lon};{speedKmh};{course};{altitude};{valid};{satellites};{hdop};{any}`,
      answer: ANSWER,
    },
    { like: `${HEAD}29;{any}`, none: 'trip', answer: ANSWER },
    { like: `${HEAD}134;{any}`, none: 'status', answer: ANSWER },
    { like: `${HEAD}{any}`, unknown: 'type', answer: ANSWER },
  ],
})

const IGNITION = 0x80

function readBits(text: string, draft: Draft): void {
  draft.says({ ignition: (Number.parseInt(text, 16) & IGNITION) !== 0 })
}
