import { setImmediate } from 'node:timers/promises'
import { Aedes, type Client } from 'aedes'
import type { Link, MqttShared } from './link.ts'
import { createLogin } from './login.ts'
import { emptyMemory, noSubscribers } from './no-subscribers.ts'
import { createPublishing } from './publish.ts'

export interface Broker {
  handle(link: Link): void
  /** Resolves once what is being stored is answered and every device's connection is closed. */
  close(): Promise<void>
}

/** Aedes, reduced to what trackers need: a login, and PUBLISH. */
export async function createBroker(shared: MqttShared): Promise<Broker> {
  const { limits, logger } = shared
  const links = new WeakMap<object, Link>()
  const linkOf = (client: Client) => links.get(client.conn) as Link
  const { authorizePublish, settled } = createPublishing(shared, linkOf)

  const broker = await Aedes.createBroker({
    ...createLogin(shared, linkOf),
    authorizePublish,
    authorizeSubscribe: (_client, _subscription, done) => done(null, null),
    mq: noSubscribers(),
    persistence: emptyMemory((client, messageId) => linkOf(client).unreleased.delete(messageId)),
    // The listener ends such a connection before, and counts it.
    connectTimeout: limits.identify_timeout + 10_000,
    // What comes with CONNECT waits for the login; it is no more than the guard passes on at once.
    queueLimit: Infinity,
    // A client id is longer by its device's id.
    maxClientsIdLength: Infinity,
  })
  broker.on('clientError', (client, error) => {
    logger.debug({ device: linkOf(client).session.device, protocol: 'mqtt', reason: error.message }, 'connection ended')
  })
  return {
    handle(link) {
      links.set(link.stream, link)
      broker.handle(link.stream)
    },
    async close() {
      await settled()
      // By then aedes has written the answers.
      await setImmediate()
      await new Promise<void>((resolve) => broker.close(() => resolve()))
    },
  }
}
