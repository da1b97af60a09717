/*
 * Megastek GVT and MT trackers. "GPRS Uploading Data" (Megastek) for MGV002, the others inferred from frames. TCP, text:
 *
 *   [LLLL]$MGV002,I,name,k,DDMMYY,hhmmss,A,Y,N,O,E,b,s,g,P,S,C,H,…;!        position
 *   [LOG]STX,J,$GPRMC,…,…,a,imei:I,s,H,Battery=…,…;XX                       position of others
 *   STXJ$GPRMC,…,m,n,c,l,u,B,…,e;XX                                         the same, J filled with blanks
 *   cmd=aid;…                                                               request for almanacs
 *
 *   L  digits of a length     k  R: live, S: stored     s  GPS satellites (b, g: of other systems)     S  knots
 *   I  IMEI                   A  A: valid, V: not       P  HDOP                                        C  degrees
 *   J  id or name of its own, where no IMEI is given              Y, O  ddmm.mmmm                      H  metres
 *   X  sum of the characters from STX on; what it covers in a stored line (LOG), and in one with J filled with blanks, is
 *      not known: it is not checked there
 *
 * Of MGV002, 15 to 17 fields behind the altitude: the charger (of two characters the first one is 1 while it is connected),
 * the charge in percent, the event. Others name the event (a) before the IMEI, Battery=…% and whether it is charged behind it.
 *
 * Nothing is answered.
 */
import {
  type Alarm,
  alarmsOf,
  type Draft,
  endsWith,
  type Fix,
  RMC,
  type Session,
  sum8,
  textProtocol,
  verify,
} from '../kit/index.ts'

const ALARMS: Readonly<Record<string, Alarm>> = {
  SOS: 'sos',
  Help: 'sos',
  LowBattery: 'low_battery',
  'Low Battery': 'low_battery',
  'Low Bat': 'low_battery',
  'Low Ext Vol': 'low_power',
  'PW OFF': 'power_off',
  PowerOff: 'power_off',
  'Power Off': 'power_off',
  VIB: 'vibration',
  Vibration: 'vibration',
  Move: 'movement',
  Movement: 'movement',
}

const MGV =
  '{length}$MGV{model},[{id}],{any:2},[{dmy}],{hms},[{valid}],{latNmea},[{ns}],{lonNmea},[{ew}],{any},{satellites},{any},{hdop},{speedKnots},{course},{altitude}'

const TAIL = /^STX,.*;([0-9A-Fa-f]{2})$/s

export default textProtocol({
  name: 'megastek',
  devices: 'Megastek GVT-430, GVT-500, GVT-900, MT-80, MT-90 and others',
  integrity: { checksum: 'sum8', covers: coveredOf },
  port: 5024,
  frame: endsWith('!', '\n', '\r\n'),
  ends: '!',
  fields: {
    talker: { like: '[A-Z]{2}' },
    model: { like: '\\d+' },
    length: { like: '\\d*' },
    own: { like: '[^,$]*', read: (text: string, draft: Draft) => void (draft.device = text.split(' ', 1)[0]) },
    spare: { like: '\\d{10,17}', read: (text: string, draft: Draft) => void (draft.device = text) },
    used: { like: '\\d*' },
    alarm: { alarms: ALARMS },
    charger: {
      like: '[01][-01]*',
      read: (text: string, draft: Draft) => draft.says({ charging: text.startsWith('1') }),
    },
    tail: {
      read: (text: string, draft: Draft) => draft.says({ alarms: alarmsOf(ALARMS[/,([^,]*);/.exec(text)?.[1] ?? '']) }),
    },
  },
  before: checked,
  lines: [
    { like: `${MGV}[,{any:14},[{charger}],{batteryPercent},{alarm}[,{any}][;{any}]][,{any}]` },
    {
      like: `[LOG]STX,{own},\${talker}RMC,${RMC},{any:4},{alarm},imei:{spare},{used}[/{any}],{altitude}[,Battery={batteryPercent}%,[,]{charging}][,{any}]`,
      fix,
    },
    { like: `[LOG]STX,{own},\${talker}RMC,${RMC}{any}` },
    { like: `STX{own}\${talker}RMC,${RMC}[,{any:8},{batteryPercent},{tail}]` },
    { like: `STX{own}\${talker}RMC,${RMC}{any}` },
    { like: 'cmd=aid;{any}', none: 'status' },
    { like: '{length}$MGV{any},[{id}],{any}', unknown: 'type' },
    { like: '[LOG]STX,{any}', unknown: 'type' },
  ],
})

function coveredOf(frame: Buffer): readonly [number, number] {
  return [0, frame.toString('latin1', 0, 4) === 'STX,' ? frame.lastIndexOf(';') : 0]
}

function checked(text: string, session: Session, bytes: Buffer): string {
  const [, digits] = TAIL.exec(text) ?? []
  if (digits) verify(sum8(bytes.subarray(0, -2)) === Number.parseInt(digits, 16), session)
  return text
}

/** Some devices say how many satellites they use, others that and how many they see, where the first one is always 0. */
function fix(draft: Draft, session: Session): Fix | undefined {
  const used = draft.text('used')
  if (+used > 0) draft.satellites = +used
  return draft.fix(session)
}
