import type { Aedes } from 'aedes'
import type { Protocol } from '../../../protocols/kit/index.ts'
import type { DeviceSession } from '../../ingest/device.ts'
import type { Outcome } from '../../ingest/ingest.ts'
import { metrics } from '../../observe/metrics.ts'
import { sameId } from '../../roster/directory.ts'
import { type Link, type LinkOf, type MqttShared, refusalError } from './link.ts'
import { readTopic } from './topic.ts'
import { storeOnce } from './twice.ts'

type AuthorizePublish = Aedes['authorizePublish']
type PublishPacket = Parameters<AuthorizePublish>[1]

interface Publishing {
  readonly authorizePublish: AuthorizePublish
  /** Resolves once what is being stored now is stored, or is not. */
  readonly settled: () => Promise<void>
}

/**
 * The handler of PUBLISH. Aedes answers (PUBACK, PUBREC) after it; where it is given an error, it closes the connection
 * without an answer. So a message is stored here.
 */
export function createPublishing(shared: MqttShared, linkOf: LinkOf): Publishing {
  const { directory, ingest, logger, misunderstood, pressure, protocols } = shared
  const storing = new Set<Promise<void>>()

  /** Stores one message. Answers why it must not be acknowledged, if so. */
  async function take(link: Link, packet: PublishPacket): Promise<string | undefined> {
    const { session } = link
    const topic = readTopic(packet.topic)
    const protocol = topic && protocols.get(topic.protocol)
    if (!topic || !protocol) return refused('unknown_topic')
    if (whose(topic.device) !== whose(session.device ?? '')) return refused('other_device')

    const payload = Buffer.from(packet.payload)
    const store = () => ingestUnderPressure(payload, session, protocol)
    const { qos, messageId = 0 } = packet
    const message = { messageId, topic: packet.topic, payload }
    const outcome = await (qos === 2 ? storeOnce(link.unreleased, message, store) : store())
    if (outcome.status === 'stored') return undefined
    if (outcome.status !== 'misunderstood') return outcome.status
    const { device = '', now: at, secret } = session
    // Whoever invents devices would push out what is kept of others.
    if (directory().find(device))
      misunderstood({ at, device, protocol: protocol.name, reason: outcome.reason, payload, secret })
    return undefined
  }

  /** What all spellings of a device's id have in common. */
  function whose(id: string): unknown {
    return directory().find(id) ?? sameId(id)
  }

  async function ingestUnderPressure(payload: Buffer, session: DeviceSession, protocol: Protocol): Promise<Outcome> {
    pressure.add(payload.length)
    try {
      return await ingest.take(payload, session, protocol)
    } finally {
      pressure.remove(payload.length)
    }
  }

  async function answer(link: Link, packet: PublishPacket, done: (error?: Error) => void): Promise<void> {
    const refusal = await take(link, packet).catch((error: unknown) => {
      logger.error({ err: error, device: link.session.device }, 'fault in handling an MQTT message')
      return 'fault'
    })
    if (refusal === undefined) done()
    else done(refusalError(refusal))
  }

  return {
    authorizePublish(client, packet, done) {
      // Without a client it would be a will: none is kept.
      if (!client) return done(new Error('no client'))
      const work = answer(linkOf(client), packet, done).finally(() => storing.delete(work))
      storing.add(work)
    },
    settled: async () => void (await Promise.all(storing)),
  }
}

function refused(reason: string): string {
  metrics.refused.inc({ reason })
  return reason
}
