import { connect, type MqttClient } from 'mqtt'
import { hostPort } from '../../src/domain/addresses.ts'
import { type LineEnd, LineFault, type VanLine } from '../../src/sandbox/line/index.ts'
import { fix } from '../../src/sandbox/speak/apps.ts'
import type { MqttSpeech } from '../../src/sandbox/speak/index.ts'

/** Waybridge's own JSON with QoS 2, in a session that outlives its connections. */
export const fixOnce: MqttSpeech = { ...fix, name: 'fix-qos2' }

/**
 * A client that publishes with QoS 2 in a session that outlives its connections. When a connection is lost, the packet on its
 * way continues in the next one, under the same identifier, from PUBLISH or PUBREL. It fails only when the line is closed.
 */
export function mqttSessionLine(speech: MqttSpeech, end: LineEnd): VanLine {
  let client: MqttClient | undefined
  return {
    maxFixes: speech.maxFixes,
    async deliver(fixes) {
      client ??= openSession(end)
      const sent = client.publishAsync(speech.topic(end.id), speech.payload(fixes), { qos: 2 })
      await sent.catch((error: Error) => Promise.reject(new LineFault(error.message)))
    },
    close() {
      client?.end(true)
      client = undefined
    },
  }
}

/** The client pings, and replaces a connection without an answer after `answerMs`. */
function openSession(end: LineEnd): MqttClient {
  const client = connect(`mqtt://${hostPort(end)}`, {
    clientId: end.id,
    username: end.id,
    protocolVersion: 4,
    clean: false,
    keepalive: Math.ceil(end.answerMs / 1000),
    connectTimeout: end.answerMs,
    reconnectPeriod: RECONNECT_MS,
  })
  // An error without a listener would end the process; the client connects again by itself.
  client.on('error', () => {})
  return client
}

const RECONNECT_MS = 500
