/*
 * Mobilogix trackers (Brazil). No specification is known: inferred from frames. TCP, text in brackets:
 *
 *   [YYYY-MM-DD hh:mm:ss,Tn,k,v,I,f,u,sgg,Y,O,S,C[,…]]     position
 *   [YYYY-MM-DD hh:mm:ss,Tn,k,v,I,…]                       other reports
 *
 *   n  kind        I  id      s     satellites (one digit)     S  km/h        g  signal and quality
 *   k, v  device, version     Y, O  decimal degrees            C  degrees
 *
 * Answer to all: [YYYY-MM-DD hh:mm:ss,Sn] with the time of the report.
 */
import { between, type Draft, textProtocol } from '../kit/index.ts'

const HEAD = '\\[{yyyy}-{month}-{day} {hour}:{minute}:{second},T{kind},{any:2},{id}'
const answer = (draft: Draft) => {
  const [year, month, day, hour, minute, second, kind] = NAMES.map((name) => draft.text(name))
  return `[${year}-${month}-${day} ${hour}:${minute}:${second},S${kind}]`
}
const NAMES = ['yyyy', 'month', 'day', 'hour', 'minute', 'second', 'kind']

export default textProtocol({
  name: 'mobilogix',
  devices: 'Mobilogix trackers',
  acknowledges: 'fixes',
  accuracy: 'none',
  integrity: { none: 'the protocol has none' },
  port: 5216,
  transports: ['tcp'],
  frame: between('[', ']'),
  ends: ']',
  fields: {
    kind: { like: '\\d+' },
    satellite: { like: '\\d', read: (text: string, draft: Draft) => void (draft.satellites = +text) },
    quality: { like: '\\d{2}' },
  },
  lines: [
    { like: `${HEAD},{any:2},{satellite}{quality},{lat},{lon},{speedKmh},{course}[,{any}]`, answer },
    { like: `${HEAD}[,{any}]`, none: 'status', answer },
    { like: '\\[{any},T{any}', unknown: 'type' },
  ],
})
