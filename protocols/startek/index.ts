/*
 * iStartek VT100, VT110, VT120, VT200, VT300, VT800, PT60. "iStartek GPS tracker Communication Protocol" 2.2 (on Scribd). TCP, text:
 *
 *   &&pL,I,000,e,[d],YYMMDDhhmmss,A,Y,O,s,P,S,C,H,odometer,cell,signal,F,i,o,V|B|…[,x{4}[,D]]…XX<CR><LF>       position
 *   &&pL,I,ccc,…XX<CR><LF>                                          answer to a command, or a report of another kind
 *
 *   p  packet     e, d  event and its data     Y, O  decimal degrees     S  km/h        H  metres
 *   L  length     A     A: valid, V: not       s  satellites             C  degrees     c  command: 100 and above
 *   I  IMEI       T     UTC                    P  HDOP                   X  sum of all characters before it
 *
 *   F  status, hex, bit 5: stopped     i, o  inputs, outputs, hex     V, B  power, battery, 0.01 V, hex
 *
 * The second input is the ignition, event 18 a power cut, d of event 53 a driver, D what a driver's magnetic card holds:
 * inferred from frames. The layout of a compressed position (020) is not known. Nothing is answered.
 */
import { hexadecimal, lengthField, type Session, sum8, textProtocol, verify } from '../kit/index.ts'

const HEAD = '&&{any},{imei},'

/** Behind a position: odometer, cell, signal, status, inputs, outputs, voltages, four fields of no interest, and the driver's card. */
const BESIDES = '[,{any:3},{status}[,{inputs}[,{any}[,{power}[|{battery}[|{any}]][,{any:4},{driver}]]]]][,{any}]'
const HEX = '[\\dA-Fa-f]*'
/** The event of a driver's card or key. */
const KEY = '53'
const EVENTS = { 18: 'power_cut' } as const
/** Bits of the status and the inputs. */
const [STOPPED, ACC] = [0x20, 0x02]

export default textProtocol({
  name: 'startek',
  devices: 'iStartek VT100, VT110, VT120, VT200, VT300, VT800, PT60',
  integrity: { checksum: 'sum8', covers: [0, -4] },
  port: 5222,
  frame: lengthField({ start: '&&', at: 3, width: 5, digits: 10, until: ',', add: 4 }),
  before: checked,
  fields: {
    event: { alarms: EVENTS },
    data: { read: (text, draft) => draft.text('event') === KEY && draft.says({ driver: text }) },
    status: {
      like: HEX,
      read: (text, draft) => void (draft.beside.moving = (hexadecimal(text) & STOPPED) === 0),
    },
    inputs: {
      like: HEX,
      read: (text, draft) => void (draft.beside.ignition = (hexadecimal(text) & ACC) !== 0),
    },
    power: { like: HEX, read: (text, draft) => void (draft.beside.external_voltage = hexadecimal(text) / 100) },
    battery: {
      like: HEX,
      read: (text, draft) => void (draft.beside.battery_voltage = hexadecimal(text) / 100),
    },
    command: { like: '[1-9]\\d\\d' },
  },
  lines: [
    {
      like: `${HEAD}0{any},{event},{data},{ymd}{hhmmss},{valid},{lat},{lon},{satellites},{hdop},{speedKmh},{course},{altitude}${BESIDES}`,
    },
    { like: `${HEAD}710,{any}`, none: 'status' },
    { like: `${HEAD}{command}[,{any}]`, none: 'command answer' },
    { like: `${HEAD}{any}`, unknown: 'position' },
  ],
})

/** Takes the checksum off. */
function checked(text: string, session: Session, bytes: Buffer): string {
  verify(sum8(bytes, bytes.length - 2) === hexadecimal(text, text.length - 2), session)
  return text.slice(0, -2)
}
