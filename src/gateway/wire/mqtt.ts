import { createServer } from 'node:net'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { Aedes, type Client } from 'aedes'
import { within } from '../../async.ts'
import { guarded, logFault } from '../../observe/faults.ts'
import { metrics } from '../../observe/metrics.ts'
import { say } from '../../texts/text.ts'
import { Acceptor } from '../admit/acceptor.ts'
import { Connections } from '../admit/connections.ts'
import { MAX_DEBT_MS } from '../admit/flood.ts'
import { CLOSE_WAIT_MS, type Endpoint, type Listener } from './listener.ts'
import { MqttConnection } from './mqtt-connection.ts'
import { connectionOf, MqttHandlers, type MqttShared } from './mqtt-handlers.ts'

/** Listens for trackers over MQTT 3.1 and 3.1.1: the built-in broker, with limits that it does not have itself. */
export async function listenMqtt(endpoint: Endpoint, shared: MqttShared): Promise<Listener> {
  const acceptor = new Acceptor('mqtt', endpoint, shared)
  const broker = await createBroker(shared)
  const server = createServer(SOCKETS)
  const opened = await acceptor.open(server, SOCKETS)
  const connections = new Connections<MqttConnection>('mqtt', shared)
  acceptor.accept(server, (socket, origin) => {
    const connection = new MqttConnection(shared, socket, origin)
    connections.add(connection)
    socket.on('close', () => connections.remove(connection))
    broker.handle(connection)
  })
  return {
    port: opened.port,
    async close(waitMs = CLOSE_WAIT_MS) {
      const handshakes = acceptor.close()
      connections.close()
      const closed = opened.close()
      for (const connection of connections.open) connection.stopReading()
      await within(waitMs, broker.close())
      for (const connection of connections.open) connection.destroy()
      await Promise.all([closed, handshakes])
    },
  }
}

const SOCKETS = { allowHalfOpen: true, keepAlive: true, keepAliveInitialDelay: 60_000 }

/** Aedes, reduced to what trackers need: a login, and PUBLISH. */
async function createBroker(shared: MqttShared) {
  const { limits } = shared
  const handlers = new MqttHandlers(shared)

  const broker = await Aedes.createBroker({
    preConnect: (...connect) => handlers.preConnect(...connect),
    authenticate: (client, name, password, done) =>
      handlers.authenticate(client, name, password, (error, isAccepted) =>
        answerLogin(shared, connectionOf(client), {
          isAccepted: isAccepted === true,
          answer: () => done(error, isAccepted),
        }),
      ),
    authorizePublish: (...publication) => handlers.authorize(...publication),
    authorizeSubscribe: (_client, _subscription, done) => done(null, null),
    mq: noSubscribers(),
    persistence: emptyPersistence(),
    // The listener ends a connection without a login before, and counts it.
    connectTimeout: limits.identify_timeout + 60_000,
    // Packets that follow CONNECT wait for the login. There are at most as many as the guard passes on at once.
    queueLimit: Infinity,
    // A client id is one of ours: see `MqttHandlers`.
    maxClientsIdLength: Infinity,
  })
  // In a later turn: then the packets that waited for the login are being stored.
  broker.on('clientReady', (client) => void setImmediate().then(() => connectionOf(client).endLogin()))
  broker.on('clientError', (client, error) => noteEnd(shared, client, error))
  broker.on('connectionError', (client, error) => noteEnd(shared, client, error))
  return {
    handle: (connection: MqttConnection) => broker.handle(connection),
    /** Resolves once messages that are being stored are answered, and every connection has ended. */
    async close(): Promise<void> {
      await handlers.settled()
      // After one turn of the event loop aedes has written the answers.
      await setImmediate()
      await new Promise<void>((resolve) => broker.close(() => resolve()))
      // Messages that arrived during the close are stored but not answered, so they are sent again.
      await handlers.settled()
    },
  }
}

interface Login {
  readonly isAccepted: boolean
  readonly answer: () => void
}

/** Answers a login; later if its sender fails or logs in too often, and not at all if that delay would be too long. */
function answerLogin({ logger, slots }: MqttShared, connection: MqttConnection, { isAccepted, answer }: Login): void {
  if (connection.destroyed) return answer()
  const { senderLimits, session } = connection
  const device = isAccepted ? session.device : undefined
  const waitMs = device === undefined ? senderLimits.failed(1) : senderLimits.identified(session)
  const go = () => {
    if (device !== undefined && !connection.destroyed) slots.identified(connection, device)
    answer()
  }
  if (waitMs === 0) return go()
  if (waitMs >= MAX_DEBT_MS) return connection.abort('flood')
  guarded(
    () => connection.hold(waitMs).then(go),
    (error) => {
      logFault(logger, error, { what: 'fault in answering an MQTT login', device })
      connection.destroy()
    },
  )
}

type BrokerError = Error & { readonly reason?: string; readonly errorCode?: number }

/** Notes why the broker ended a connection. An error after the end is an answer that came too late. */
function noteEnd({ journal }: MqttShared, client: Client, error: BrokerError): void {
  if (client.closed) return
  const { session } = connectionOf(client)
  session.endFor(reasonOf(error))
  if (error.errorCode === BAD_VERSION) journal.notUnderstood(session, OTHER_VERSION)
}

/** Shown to people for a client with a version of MQTT that the broker does not speak, so that the refusal has a cause. */
const OTHER_VERSION = {
  port: undefined,
  protocol: 'mqtt',
  bytes: Buffer.alloc(0),
  guesses: [{ protocol: { name: 'mqtt' }, evidence: [say('this broker speaks MQTT 3.1.1: set the client to it')] }],
}

/** Returns the reason of an error; the handler that refused may have counted it already. */
function reasonOf(error: BrokerError): string {
  if (error.reason !== undefined) return error.reason
  const reason = error.errorCode === BAD_VERSION ? 'protocol_version' : 'malformed_packet'
  metrics.refused.inc({ reason })
  return reason
}

/** The return code of CONNACK for a version that the broker does not speak: it knows 3.1 and 3.1.1. */
const BAD_VERSION = 1

/** A message bus without subscribers: every published message was stored before. */
function noSubscribers() {
  return {
    on: (_topic: string, _deliver: unknown, done?: () => void) => done?.(),
    removeListener: (_topic: string, _deliver: unknown, done?: () => void) => done?.(),
    emit: (_packet: unknown, done?: () => void) => done?.(),
    close: (done: () => void) => done(),
  }
}

/**
 * A persistence that keeps nothing, since there are no subscribers: no retained message, will, subscription or outgoing
 * packet, so that no client can fill it. It claims to know every packet of QoS 2, so that the broker answers at once: PUBREC
 * to a PUBLISH that is authorised, which means stored, and PUBCOMP to a PUBREL.
 */
function emptyPersistence() {
  return {
    ...methods(WRITES, async () => {}),
    ...methods('subscriptionsByClient subscriptionsByTopic', async () => []),
    ...methods('createRetainedStreamCombi outgoingStream streamWill', () => Readable.from([])),
    incomingGetPacket: async (_client: object, packet: object) => packet,
  }
}

/** The same method under several names. */
function methods(names: string, method: () => unknown): Record<string, () => unknown> {
  return Object.fromEntries(names.split(' ').map((name) => [name, method]))
}

const WRITES =
  'setup storeRetained addSubscriptions removeSubscriptions cleanSubscriptions putWill delWill outgoingEnqueue ' +
  'outgoingEnqueueCombi outgoingUpdate outgoingClearMessageId incomingStorePacket incomingDelPacket'
