import type { Speech } from '../speak/index.ts'
import { httpLine } from './http.ts'
import type { Line, LineEnd } from './line.ts'
import { mqttLine } from './mqtt.ts'
import { mqttSessionLine } from './mqtt-session.ts'
import { tcpLine } from './tcp.ts'
import { udpLine } from './udp.ts'

export { type Line, type LineEnd, LineFault } from './line.ts'

/** The wire that a way of speaking needs; nothing is opened yet. */
export function lineFor(speech: Speech, end: LineEnd): Line {
  if (speech.transport === 'tcp') return tcpLine(speech, end)
  if (speech.transport === 'udp') return udpLine(speech, end)
  if (speech.transport === 'http') return httpLine(speech, end)
  return speech.qos === 2 ? mqttSessionLine(speech, end) : mqttLine(speech, end)
}
