/*
 * Mobilogix trackers (Brazil). No specification is known: inferred from frames. TCP, text in brackets:
 *
 *   [YYYY-MM-DD hh:mm:ss,Tn,k,v,I,f,u,sgg,Y,O,S,C[,b,…]]   position; b: battery, V
 *   [YYYY-MM-DD hh:mm:ss,Tn,k,v,I,…]                       other reports
 *
 *   n  kind        I  id      s     satellites (one digit)     S  km/h        g  signal and quality
 *   k, v  device, version     Y, O  decimal degrees            C  degrees     u  power from outside, V
 *   f  hexadecimal: bit 1 charging, 2 ignition, 3 moving       kinds: 9 vibration, 10 power cut, 11 low power, 15 tow
 *
 * Answer to all: [YYYY-MM-DD hh:mm:ss,Sn] with the time of the report.
 */
import { between, type Draft, type Session, textProtocol } from '../kit/index.ts'

const headOf = (kind: string) => `\\[{yyyy}-{month}-{day} {hour}:{minute}:{second},T{${kind}},{any:2},{id}`
const HEAD = headOf('kind')
const answer = (draft: Draft) => {
  const [year, month, day, hour, minute, second] = NAMES.map((name) => draft.text(name))
  return `[${year}-${month}-${day} ${hour}:${minute}:${second},S${draft.text('kind') || draft.text('quiet') || draft.text('stop')}]`
}
const fix = (draft: Draft, session: Session) => draft.fix(session)
const NAMES = ['yyyy', 'month', 'day', 'hour', 'minute', 'second']

export default textProtocol({
  name: 'mobilogix',
  devices: 'Mobilogix trackers',
  acknowledges: 'fixes',
  port: 5216,
  frame: between('[', ']'),
  ends: ']',
  fields: {
    kind: { like: '\\d+', alarms: { 9: 'vibration', 10: 'power_cut', 11: 'low_power', 15: 'tow' } },
    stamp: { like: '[^,]*' },
    flags: { like: '[0-9A-Fa-f]{2}', read: readFlags },
    /** Reports that were seen without a position. */
    quiet: { like: '1|8|14|16' },
    stop: { like: '14' },
    state: { like: '\\d*', read: readState },
    south: { like: '-?\\d{1,2}\\.\\d+', read: (text: string, draft: Draft) => void (draft.latitude = +text) },
    west: { like: '-?\\d{1,3}\\.\\d+', read: (text: string, draft: Draft) => void (draft.longitude = +text) },
  },
  lines: [
    {
      like: `${HEAD},{flags},{externalVolts},{state},{south},{west},{speedKmh}[,{course}[,{batteryVolts}[,{any}]]]`,
      fix,
      answer,
    },
    { like: `${HEAD},{any:2},{state},{south},{west},{speedKmh}[,{course}[,{any}]]`, fix, answer },
    { like: `${headOf('stop')},{flags},{externalVolts}[,{any}]`, none: 'status', answer },
    { like: `${headOf('quiet')}[,{any}]`, none: 'status', answer },
    { like: `${HEAD}[,{any}]`, unknown: 'type', answer },
    { like: '\\[{stamp},T{kind}[,{any}]', unknown: 'type', answer: '[{stamp},S{kind}]' },
    { like: '\\[{any},T{any}', unknown: 'type' },
  ],
})

/** Satellites, signal and quality, a digit each. */
function readState(text: string, draft: Draft): void {
  if (text.length === 3) draft.satellites = Number(text[0])
}

function readFlags(text: string, draft: Draft): void {
  const flags = Number.parseInt(text, 16)
  draft.says({ charging: (flags & 2) !== 0, ignition: (flags & 4) !== 0, moving: (flags & 8) !== 0 })
}
