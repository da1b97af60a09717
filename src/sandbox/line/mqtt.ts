import { connect, type MqttClient } from 'mqtt'
import { hostPort } from '../../domain/addresses.ts'
import type { MqttSpeech } from '../speak/index.ts'
import { createExchange, type LineEnd, type PacketExchange, faultReason, type VanLine } from './line.ts'

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
  client.on('error', (error) => exchange.fail(faultReason(error, end)))
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
