import { Client } from 'undici'
import type { HttpSpeech } from '../speak/index.ts'
import { addressOf, type Line, type LineEnd, LineFault, reasonOf } from './line.ts'

/** A request a packet, on a connection that is kept while it is used. */
export function httpLine(speech: HttpSpeech, end: LineEnd): Line {
  let client: Client | undefined
  return {
    maxFixes: speech.maxFixes,
    async deliver(fixes) {
      client ??= new Client(`http://${addressOf(end)}`)
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
    throw new LineFault(error instanceof DOMException ? 'no answer' : reasonOf(error, end))
  }
}
