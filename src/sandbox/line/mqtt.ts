import { connect, type MqttClient } from 'mqtt'
import { hostPort } from '../../domain/addresses.ts'
import type { MqttSpeech } from '../speak/index.ts'
import { createExchange, type LineEnd, LineFault, type PacketExchange, reasonOf, type VanLine } from './line.ts'

interface VanClient {
  readonly client: MqttClient
  readonly exchange: PacketExchange
  /** Whether the gateway has closed the connection. */
  closed: boolean
}

/** A client that publishes with QoS 1; its user name is the device's id. After a fault a new client is made. */
export function mqttLine(speech: MqttSpeech, end: LineEnd): VanLine {
  let connection: VanClient | undefined

  function close(): void {
    connection?.exchange.fail('connection closed')
    connection?.client.end(true)
    connection = undefined
  }

  return {
    maxFixes: speech.maxFixes,
    async deliver(fixes) {
      if (!connection || connection.closed) connection = open(end)
      try {
        await publish(connection, speech.topic(end.id), Buffer.from(speech.payload(fixes)))
      } catch (fault) {
        close()
        throw fault
      }
    },
    close,
  }
}

function open(end: LineEnd): VanClient {
  const exchange = createExchange(end.answerMs)
  const client = connect(`mqtt://${hostPort(end)}`, {
    clientId: end.id,
    username: end.id,
    protocolVersion: 4,
    connectTimeout: end.answerMs,
    reconnectPeriod: 0,
  })
  client.on('error', (error) => exchange.fail(reasonOf(error, end)))
  const connection = { client, exchange, closed: false }
  client.on('close', () => {
    connection.closed = true
    exchange.fail(`connection closed by ${hostPort(end)}`)
  })
  return connection
}

/** A publication before the connection is made is sent with it; the callback comes with PUBACK. */
function publish({ client, exchange }: VanClient, topic: string, bytes: Buffer): Promise<void> {
  return exchange.send({ bytes, accepted: () => true }, (payload) =>
    client.publish(topic, payload, { qos: 1 }, (error) =>
      error ? exchange.fail(error.message) : exchange.receive(payload),
    ),
  )
}

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
