/*
 * Laipac StarFinder, S911, TS-10. No specification is public: inferred from frames. TCP, text:
 *
 *   $AVRMC,I,hhmmss,A,Y,N,O,E,S,C,DDMMYY,e,b,…*XX    position
 *   $AVSYS,I,v,n,…*XX     $ECHK,I,n*XX               version, heartbeat
 *
 *   I  id     A  V: not valid, A, R, P: valid; in lower case: to be acknowledged     S  knots     X  XOR between $ and *
 *   e  event                                            Y, O  ddmm.mmmm              C  degrees
 *
 * b is the battery: mV, or V with a point. Event 3 is the panic button, 8 a shock, H switched off.
 *
 * Answers: $EAVACK,e,XX*ZZ with e and XX of a position that asks for it; to ECHK the same line. The alarms 3, S and X are
 * repeated until $AVCFG,00000000,d (t, x) takes them back, with the password that devices are delivered with.
 */
import { type Draft, TextWriter, textProtocol, xor } from '../kit/index.ts'

const ALARMS: Readonly<Record<string, string>> = { '3': 'd', S: 't', X: 'x' }

export default textProtocol({
  name: 'laipac',
  devices: 'Laipac StarFinder, S911, TS-10 and others',
  acknowledges: 'some',
  integrity: { sum: 'xor', from: 1, to: '*', digits: 2 },
  port: 5048,
  fields: {
    state: { like: '[A-Za-z]', read: (text: string, draft: Draft) => void (draft.valid = !'Vv'.includes(text)) },
    event: { alarms: { 3: 'sos', 8: 'vibration', H: 'power_off' } },
    battery: { read: readBattery },
    rest: {},
    sum: {},
  },
  lines: [
    {
      like: '$[E]AVRMC,{id},{hms},{state},{latNmea},[{ns}],{lonNmea},[{ew}],{speedKnots},{course},[{dmy}][,{event}[,{battery}[,{any}]]]*{sum}',
      answer,
    },
    { like: '$[E]AVSYS,{id}[,{any}]*{any}', none: 'status' },
    { like: '$ECHK,{id},{rest}', none: 'heartbeat', answer: '$ECHK,{id},{rest}\r\n' },
    { like: '$[E]AV{any},{id}[,{any}]*{any}', unknown: 'type' },
  ],
})

/** Millivolts; volts of older firmware, with a point. */
function readBattery(text: string, draft: Draft): void {
  draft.says({ battery_voltage: Number(text) / (text.includes('.') ? 1 : 1000) })
}

function answer(draft: Draft): Buffer | undefined {
  const [state, event] = [draft.text('state'), draft.text('event')]
  const code = Object.hasOwn(ALARMS, event) ? ALARMS[event] : undefined
  const lines = [
    ...(state === state.toLowerCase() ? [`EAVACK,${event},${draft.text('sum')}`] : []),
    ...(code === undefined ? [] : [`AVCFG,00000000,${code}`]),
  ]
  return lines.length === 0 ? undefined : Buffer.concat(lines.map(sentence))
}

function sentence(text: string): Buffer {
  return new TextWriter()
    .text(`$${text}*`)
    .hex(xor(Buffer.from(text, 'latin1')), 2)
    .text('\r\n')
    .toBuffer()
}
