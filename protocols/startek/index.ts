/*
 * iStartek VT100, VT110, VT120, VT200, VT300, VT800, PT60. "iStartek GPS tracker Communication Protocol" 2.2 (on Scribd). TCP, text:
 *
 *   &&pL,I,000,e,[d],YYMMDDhhmmss,A,Y,O,s,P,S,C,H,…XX<CR><LF>       position
 *   &&pL,I,ccc,…XX<CR><LF>                                          answer to a command, or a report of another kind
 *
 *   p  packet     e, d  event and its data     Y, O  decimal degrees     S  km/h        H  metres
 *   L  length     A     A: valid, V: not       s  satellites             C  degrees     c  command: 100 and above
 *   I  IMEI       T     UTC                    P  HDOP                   X  sum of all characters before it
 *
 * The layout of a compressed position (020) is not known. Nothing is answered.
 */
import { lengthField, type Session, sum8, textProtocol, verify } from '../kit/index.ts'

const HEAD = '&&{packet}{length},{imei},'

export default textProtocol({
  name: 'startek',
  devices: 'iStartek VT100, VT110, VT120, VT200, VT300, VT800, PT60',
  integrity: { checksum: 'sum8', covers: [0, -4] },
  port: 5222,
  frame: lengthField({ start: '&&', at: 3, width: 5, digits: 10, until: ',', add: 4 }),
  before: checked,
  fields: {
    packet: { like: '[^]' },
    length: { like: '\\d{1,5}' },
    command: { like: '[1-9]\\d\\d' },
  },
  lines: [
    {
      like: `${HEAD}0{any},{any:2},{ymd}{hhmmss},{valid},{lat},{lon},{satellites},{hdop},{speedKmh},{course},{altitude}[,{any}]`,
    },
    { like: `${HEAD}710,{any}`, none: 'status' },
    { like: `${HEAD}{command}[,{any}]`, none: 'command answer' },
    { like: `${HEAD}{any}`, unknown: 'position' },
  ],
})

/** Takes the checksum off. */
function checked(text: string, session: Session, bytes: Buffer): string {
  verify(sum8(bytes.subarray(0, -2)) === Number.parseInt(text.slice(-2), 16), session)
  return text.slice(0, -2)
}
