/*
 * GpsGate clients and devices: "GpsGate Server Protocol Specification" v1.0, v1.1 and v2.0 (Franson, 2009,
 * scribd.com/doc/270902012); "GpsGate TrackerOne", appendix 4: UDP; "Custom device integration with GpsGate protocol"
 * (support.gpsgate.com): HTTP. NMEA sentences, which end with CR LF or NUL over TCP:
 *
 *   $FRLIN,domain,I,password*XX                                          login; answer $FRSES,session*XX
 *   $FRLIN,IMEI,I,*XX     $FRWDT,NMEA*XX     $FRVER,1,0,name*XX          login, flow, version
 *   $GPRMC,hhmmss.sss,A,Y,N,O,E,S,C,DDMMYY,…*XX                          position
 *   $FRCMD,I,_Command,,Y,N,O,E,H,S,C,DDMMYY,hhmmss.sss,f,…*XX        position with the id, f: 1 valid; states: SosButton=1,BatteryLow=0
 *
 *   ?cmd=$FRCMD,I,_SendMessage,,…    the same over HTTP, perhaps without *XX; answer $FRRET,I,_SendMessage*XX
 *
 *   I  user name or IMEI     Y, O  ddmm.mmmm     S  knots     C  degrees     H  metres     X  exclusive or of what is between $ and *
 */
import {
  alarmsOf,
  DecodeError,
  type Draft,
  endsWith,
  type HttpRequest,
  type Message,
  type Protocol,
  parametersOf,
  RMC,
  type Session,
  textProtocol,
  xor,
} from '../kit/index.ts'

const text = textProtocol({
  name: 'gpsgate',
  devices: 'GpsGate clients',
  acknowledges: 'some',
  integrity: { sum: 'xor', from: '$', to: '*', digits: 2 },
  port: 5026,
  transports: ['tcp', 'udp'],
  frame: endsWith('\0', '\n', '\r\n'),
  fields: { talker: { like: 'G[A-Z]' }, command: { like: '_[A-Za-z]+' }, states: { like: '[^*]*', read: readStates } },
  lines: [
    { like: '$FRLIN,IMEI,{id},{any}', none: 'login', answer: opened },
    { like: '$FRLIN,{any},{id},{secret}*{any}', none: 'login', answer: opened },
    { like: '$FRVER,{any}', none: 'status' },
    { like: '$FRWDT,{any}', none: 'status' },
    { like: `\${talker}RMC,${RMC}{any}` },
    {
      like: '$FRCMD,{id},{command},{any},{latNmea},{ns},{lonNmea},{ew},{altitude},{speedKnots},{course},{dmy},{hms},{valid}[,{states}]*{any}',
    },
    {
      like: '$FRCMD,{id},{command},{any},{latNmea},{ns},{lonNmea},{ew},{altitude},{speedKnots},{course},{dmy},{hms}*{any}',
    },
    { like: '$FRCMD,{id},{any}', unknown: 'type' },
    { like: '${any}', unknown: 'type' },
  ],
})

export default { ...text, http: { port: 5272 }, request } satisfies Protocol

/** The session is the name that was presented. */
function opened(): string {
  return `${sealed('$FRSES,embedded')}\r\n`
}

/** The sentence with its checksum. */
function sealed(sentence: string): string {
  const sum = xor(Buffer.from(sentence.slice(1), 'latin1'))
  return `${sentence}*${sum.toString(16).toUpperCase().padStart(2, '0')}`
}

function readStates(states: string, draft: Draft): void {
  const isOn = (name: string) => `,${states},`.includes(`,${name}=1,`)
  draft.says({ alarms: alarmsOf(isOn('SosButton') && 'sos', isOn('BatteryLow') && 'low_battery') })
}

function request(report: HttpRequest, session: Session): Message {
  const command = parametersOf(report).get('cmd')
  if (!command) throw new DecodeError('malformed', 'cmd is missing')
  const sentence = command.includes('*') ? command : sealed(command)
  const message = text.decode(Buffer.from(sentence, 'latin1'), session)
  const [, name] = command.split(',', 3).slice(1)
  const response = { body: `${sealed(`$FRRET,${message.device ?? ''},${name ?? ''}`)}\r\n` }
  return { ...message, reply: undefined, response }
}
