/*
 * Xexun TK102, TK201, XT-107 and clones. "GPRMC" data format of their manuals, TCP. A line, before which older firmware has nothing:
 *
 *   [YYMMDDhhmmss,p,]GPRMC,hhmmss.sss,A,Y,N,O,E,S,C,DDMMYY,…*XX,F,e, imei:I[,s,H,F:b.bbV,c,…]
 *
 *   p  administrator's phone number     S  knots       e  event          H  metres
 *   A  A: valid, V: not                 C  degrees     I  IMEI
 *   Y, O  ddmm.mmmm                     F  F: good reception, L: low     s  satellites
 *   b  own battery, V                   c  1: it is being charged
 *
 * Without a battery, two numbers behind the IMEI are the length of the line and its CRC. Where the CRC is two bytes (CRC-16/XMODEM,
 * little-endian), nothing ends the line: "imei:I,117" and these bytes, behind which the next line begins.
 *
 * Events that are read: ACC on and off, help me! (helpme in the manual of the TK103), low battery!, move!.
 *
 * Firmware changes sentences after their checksum was made, so that it is not looked at. Nothing is answered.
 */
import { type Alarm, crc16Xmodem, type Draft, EndSearch, type Stream, textProtocol } from '../kit/index.ts'

const imeis = new EndSearch('imei:')
const ends = new EndSearch('\n')
const TAIL = '[,{satellites},{altitude},{battery}[,[{charging}]]][,{any}]'

export default textProtocol({
  name: 'xexun',
  devices: 'Xexun TK102, TK201, XT-107 and clones',
  integrity: { none: 'the checksum of the sentence is not made anew where firmware changes it' },
  port: 5006,
  frame: frameLength,
  before: imeiFirst,
  fields: {
    talker: { like: 'G[A-Z]' },
    imei: { like: '\\d{10,17}' },
    battery: {
      like: '[FL]:[\\d.]+V[^,|]*',
      read: (text, draft) => draft.says({ battery_voltage: Number.parseFloat(text.slice(2)) }),
    },
    rest: { read: readEvent },
  },
  lines: [
    { like: `imei:{imei}${TAIL}|[[{any},]{any},{any},]{talker}RMC,.{any}`, none: 'no date' },
    {
      like: `imei:{imei}${TAIL}|[[{any},]{any},{any},]{talker}RMC,{hms},[{valid}],{latNmea},[{ns}],{lonNmea},[{ew}],{speedKnots},{course},[{dmy}],{rest}`,
    },
    { like: 'imei:{imei}{any}', unknown: 'type' },
  ],
})

const EVENT = /,[FL],([^,]+),/
const ACC = /^acc(on|start|off|stop)$/
const ALARMS: readonly (readonly [text: string, alarm: Alarm])[] = [
  ['helpme', 'sos'],
  ['lowbattery', 'low_battery'],
  ['move', 'movement'],
]

/** What stands behind the reception names the event. */
function readEvent(text: string, draft: Draft): void {
  const event = EVENT.exec(text)?.[1].toLowerCase().replaceAll(' ', '')
  if (event === undefined) return
  const acc = ACC.exec(event)?.[1]
  if (acc !== undefined) draft.says({ ignition: acc === 'on' || acc === 'start' })
  const alarm = ALARMS.find(([begin]) => event.startsWith(begin))?.[1]
  if (alarm) draft.says({ alarms: [alarm] })
}

/** A line ends behind the IMEI: some firmware breaks it within the sentence. */
function frameLength(bytes: Buffer, stream: Stream): number {
  if (bytes[0] === 0x0a || bytes[0] === 0x0d) return -1
  const imei = imeis.after(bytes, 0, stream)
  if (imei === 0 || MAY_BE_CUT.test(bytes.toString('latin1', imei, imei + LONGEST_TAIL))) return 0
  return binaryEnd(bytes, imei) || ends.after(bytes, imei, stream)
}

/** Index behind the length and the binary CRC that follow the IMEI; 0 if these do not follow it. */
function binaryEnd(bytes: Buffer, imei: number): number {
  const [tail] = LENGTH.exec(bytes.toString('latin1', imei, imei + LONGEST_TAIL)) ?? []
  if (tail === undefined) return 0
  const end = imei + tail.length
  const isBinary =
    !TEXT.test(tail.at(-2) ?? '') || crc16Xmodem(bytes.subarray(0, end - 2)) === bytes.readUInt16LE(end - 2)
  return isBinary ? end : 0
}

/** An IMEI, three digits and two more bytes. */
const LENGTH = /^\d{10,17},\d{3}[^]{2}/
/** One of the two bytes of a CRC, which would end a line. */
const MAY_BE_CUT = /^\d{10,17},\d{3}[\r\n]$/
const LONGEST_TAIL = 23
const TEXT = /[\d,.\r\n]/

/** What stands behind the sentence differs by firmware; it is read in front of it. */
function imeiFirst(text: string): string {
  const at = text.lastIndexOf('imei:')
  return at < 0 ? text : `${text.slice(at)}|${text.slice(0, at)}`
}
