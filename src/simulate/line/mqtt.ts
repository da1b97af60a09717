import { connect, type MqttClient } from 'mqtt'
import type { MqttSpeech } from '../speak/index.ts'
import { createExchange, type Exchange } from './exchange.ts'
import { addressOf, type Line, type LineEnd, reasonOf } from './line.ts'

interface Connection {
  readonly client: MqttClient
  readonly exchange: Exchange
  /** The other side may end it while nothing is under way. */
  closed: boolean
}

/** A client whose user name is the device's id, publishing with QoS 1; after a fault a new one. */
export function mqttLine(speech: MqttSpeech, end: LineEnd): Line {
  let connection: Connection | undefined

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

function open(end: LineEnd): Connection {
  const exchange = createExchange(end.answerMs)
  const client = connect(`mqtt://${addressOf(end)}`, {
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
    exchange.fail(`connection closed by ${addressOf(end)}`)
  })
  return connection
}

/** What is published before the connection is made leaves with it; the callback comes with PUBACK. */
function publish({ client, exchange }: Connection, topic: string, bytes: Buffer): Promise<void> {
  return exchange.send({ bytes, accepted: () => true }, (payload) =>
    client.publish(topic, payload, { qos: 1 }, (error) =>
      error ? exchange.fail(error.message) : exchange.hear(payload),
    ),
  )
}
