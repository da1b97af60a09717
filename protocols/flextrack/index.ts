/*
 * Flextrack Lommy and similar. "Lommy protocol" of Flextrack, TCP, text that ends with a carriage return:
 *
 *   n,LOGON,u,I                                                               login
 *   n,UNITSTAT,YYYYMMDD,hhmmss,u,NY,EO,S,C,s,b,g,f,x,H,P,…                    position
 *
 *   b  battery, mV      g  GSM signal
 *   n  index         I  ICCID of the SIM card: it is the id     S  km/h        s  satellites     P  HDOP × 10
 *   u  unit          Y, O  dd.mm.mmmm                           C  degrees     H  metres         Answer to both: n,ACK
 */
import { type Draft, endsWith, textProtocol } from '../kit/index.ts'

const answer = '{index},ACK\r'

export default textProtocol({
  name: 'flextrack',
  devices: 'Flextrack Lommy',
  acknowledges: 'fixes',
  port: 5090,
  frame: endsWith('\r'),
  fields: {
    index: { like: '-?\\d+' },
    degreesN: { like: '\\d+', read: (text: string, draft: Draft) => void (draft.latitude = +text) },
    degreesE: { like: '\\d+', read: (text: string, draft: Draft) => void (draft.longitude = +text) },
  },
  lines: [
    {
      like: '{index},UNITSTAT,{yyyymmdd},{hhmmss},{any},{ns}{degreesN}.{latMin},{ew}{degreesE}.{lonMin},{speedKmh},{course},{satellites},{batteryVolts/1000},{any:3},{altitude},{hdop/10}[,{any}]',
      answer,
    },
    { like: '{index},LOGON,{any},{id}', none: 'login', answer },
    { like: '{index},UNITSTAT,{any}', unknown: 'position', answer },
    { like: '{index},{any}', unknown: 'type', answer },
  ],
})
