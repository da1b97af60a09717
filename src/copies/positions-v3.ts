import { copyTls } from '../config/certificate.ts'
import type { CopiedFix } from '../store/index.ts'
import { answerText, say } from '../texts/text.ts'
import type { ApiAnswer } from '../tracking/answer.ts'
import { createTrackingClient } from '../tracking/client.ts'
import { isSuccess } from '../tracking/exchange.ts'
import { answerOfFailure, type HttpReceiverOptions } from './http.ts'
import { mayBeFixes, type Receiver, type ReceiverAnswer } from './receiver.ts'

/** Pushes to a second tracking API, lane by lane. @throws Error if the files of its TLS cannot be used */
export function positionsReceiver({ connections, copy, most, names, timeoutMs }: HttpReceiverOptions): Receiver {
  const client = createTrackingClient({ baseUrl: copy.to, timeoutMs, connections, tls: copyTls(copy) })
  return {
    most,
    queueOf: ({ courier, route }) => `${courier}/${route}`,
    async send(company, fixes) {
      const [{ courier, route }] = fixes
      if (courier === undefined || route === undefined) return { to: 'refuse', status: 0, message: 'it has no route' }
      const body = JSON.stringify({ positions: fixes.map(positionJson) })
      let answer: ApiAnswer | undefined
      for (const apikey of copy.secret === undefined ? names.apikeysOf(company) : [copy.secret]) {
        answer = await client.push({ courier, route, apikey, body })
        if (!('status' in answer) || answer.status !== FORBIDDEN) break
      }
      return answer
        ? answerOf(answer, timeoutMs)
        : { to: 'retry', reason: say('the company has no apikey'), mayBeFixes: false }
    },
    close: () => void client.close().catch(() => {}),
  }
}

function positionJson({ timestamp, latitude, longitude, accuracy, heading, speed }: CopiedFix): object {
  return { timestamp, point: { lat: latitude, lon: longitude }, accuracy, heading, speed }
}

function answerOf(answer: ApiAnswer, timeoutMs: number): ReceiverAnswer {
  if ('fault' in answer) return answerOfFailure(answer, timeoutMs)
  if (!('status' in answer))
    return { to: 'retry', reason: say('something else answers in its place'), mayBeFixes: false }
  const { status, text, retryAfterMs: leastMs } = answer
  if (isSuccess(status)) return { to: 'delivered' }
  const isRefused = status < 500 && !MAY_PASS.has(status)
  if (isRefused) return { to: 'refuse', status, message: text, isWhole: !ABOUT_POSITIONS.has(status) }
  return { to: 'retry', reason: answerText(status, text), mayBeFixes: mayBeFixes(status, leastMs), leastMs }
}

/** The answer to a refused apikey: the next one is tried. */
const FORBIDDEN = 403
/** Answers about the apikey, the address or the load, which may pass. */
const MAY_PASS: ReadonlySet<number> = new Set([401, 403, 405, 407, 408, 410, 425, 429])
const ABOUT_POSITIONS: ReadonlySet<number> = new Set([413, 422])
