import { connect, type MqttClient } from 'mqtt'
import type { MqttSpeech } from '../speak/index.ts'
import { addressOf, type Line, type LineEnd, LineFault } from './line.ts'

/**
 * A client with a session that outlives its connections, publishing with QoS 2: a packet that is under way when one is lost
 * goes on in the next, under the same identifier, from PUBLISH or from PUBREL. So it fails only when the line is closed.
 */
export function mqttSessionLine(speech: MqttSpeech, end: LineEnd): Line {
  let client: MqttClient | undefined
  return {
    maxFixes: speech.maxFixes,
    async deliver(fixes) {
      client ??= open(end)
      const sent = client.publishAsync(speech.topic(end.id), speech.payload(fixes), { qos: 2 })
      await sent.catch((error: Error) => Promise.reject(new LineFault(error.message)))
    },
    close() {
      client?.end(true)
      client = undefined
    },
  }
}

/** A connection on which an answer is missing for so long is given up: the client asks whether it lives. */
function open(end: LineEnd): MqttClient {
  const client = connect(`mqtt://${addressOf(end)}`, {
    clientId: end.id,
    username: end.id,
    protocolVersion: 4,
    clean: false,
    keepalive: Math.ceil(end.answerMs / 1000),
    connectTimeout: end.answerMs,
    reconnectPeriod: RECONNECT_MS,
  })
  // Without a listener it would end the process; it is followed by another attempt.
  client.on('error', () => {})
  return client
}

const RECONNECT_MS = 500
