/*
 * RST-MINI and other trackers of RST (Brazil). No specification is known: inferred from frames. UDP, text:
 *
 *   RST;k;m;v;I;n;t;DD-MM-YYYY hh:mm:ss;DD-MM-YYYY hh:mm:ss;Y;O;S;C;H;f;s;P;…;FIM;     position
 *   RST;k;m;v;I;n;t;…;FIM;                                                             other reports
 *
 *   k  L: live, A: from memory   n  index           Y, O  decimal degrees   H  metres          P  HDOP
 *   m, v  model, version         t  kind of report  S     km/h              f  1: fixed
 *   I  id                        the second time is that of the fix         s  satellites
 *
 *   Answer to all: RST;A;m;v;I;n;6;FIM;
 */
import { textProtocol, whole } from '../kit/index.ts'

const HEAD = 'RST;{kind};{model};{version};{id};{index};'
const ANSWER = 'RST;A;{model};{version};{id};{index};6;FIM;'

export default textProtocol({
  name: 'rst',
  devices: 'RST-MINI 4G, RST-MINIv2, RST-MINIv5',
  acknowledges: 'fixes',
  port: 5196,
  transports: ['udp'],
  frame: whole,
  fields: { kind: { like: '[A-Z]' }, model: {}, version: {}, index: { like: '\\d+' } },
  lines: [
    {
      like: `${HEAD}{any:2};{day}-{month}-{yyyy} {hour}:{minute}:{second};{lat};{lon};{speedKmh};{course};{altitude};{valid};{satellites};{hdop};{any}`,
      answer: ANSWER,
    },
    { like: `${HEAD}29;{any}`, none: 'trip', answer: ANSWER },
    { like: `${HEAD}134;{any}`, none: 'status', answer: ANSWER },
    { like: `${HEAD}{any}`, unknown: 'type', answer: ANSWER },
  ],
})
