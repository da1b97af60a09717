import { setImmediate } from 'node:timers/promises'
import { Aedes, type Client } from 'aedes'
import { metrics } from '../../observe/metrics.ts'
import type { Link, MqttShared } from './link.ts'
import { createLogin } from './login.ts'
import { emptyMemory, noSubscribers } from './no-subscribers.ts'
import { createPublishing } from './publish.ts'

interface Broker {
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
  const ended = (client: Client, error: Error) => {
    // After the end an error is an answer that came too late.
    if (client.closed) return
    const link = linkOf(client)
    const reason = reasonOf(error)
    link.session.ended ??= reason
    logger.debug({ reason, ...aboutOf(link) }, 'connection ended')
  }
  broker.on('clientError', ended)
  broker.on('connectionError', ended)
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
      // What came behind it is stored, but not answered: it comes again.
      await settled()
    },
  }
}

/** Why the broker ended a connection; counted, unless it has been. */
function reasonOf(error: Error & { readonly reason?: string; readonly errorCode?: number }): string {
  if (error.reason !== undefined) return error.reason
  const reason = error.errorCode === BAD_VERSION ? 'protocol_version' : 'malformed_packet'
  metrics.refused.inc({ reason })
  return reason
}

function aboutOf({ session }: Link) {
  return { protocol: 'mqtt', device: session.device, remote: session.remote }
}

/** CONNACK's return code for a version that the broker does not speak: it knows 3.1 and 3.1.1. */
const BAD_VERSION = 1
