import { Client } from 'undici'
import { hostPort } from '../../domain/addresses.ts'
import type { HttpSpeech, Speech } from '../speak/index.ts'
import { type LineEnd, LineFault, faultReason, type VanLine } from './line.ts'
import { mqttLine } from './mqtt.ts'
import { tcpLine, udpLine } from './sockets.ts'

export { type LineEnd, LineFault, type VanLine } from './line.ts'

/** The line for a speech; it is not open yet. */
export function lineFor(speech: Speech, end: LineEnd): VanLine {
  if (speech.transport === 'tcp') return tcpLine(speech, end)
  if (speech.transport === 'udp') return udpLine(speech, end)
  if (speech.transport === 'http') return httpLine(speech, end)
  return mqttLine(speech, end)
}

/** Sends one request for each packet, on a connection that is kept open. */
function httpLine(speech: HttpSpeech, end: LineEnd): VanLine {
  let client: Client | undefined
  return {
    maxFixes: speech.maxFixes,
    async deliver(fixes) {
      client ??= new Client(`http://${hostPort(end)}`)
      const status = await get(client, speech.path(fixes, end.id), end)
      if (status !== 200) throw new LineFault(`HTTP ${status}`)
    },
    close() {
      void client?.destroy()
      client = undefined
    },
  }
}

async function get(client: Client, path: string, end: LineEnd): Promise<number> {
  try {
    const { statusCode, body } = await client.request({
      method: 'GET',
      path,
      signal: AbortSignal.timeout(end.answerMs),
    })
    await body.dump()
    return statusCode
  } catch (error) {
    throw new LineFault(error instanceof DOMException ? 'no answer' : faultReason(error, end))
  }
}
