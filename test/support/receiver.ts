import { createSocket } from 'node:dgram'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { Aedes } from 'aedes'
import { loadProtocols } from '../../protocols/index.ts'
import {
  cut,
  decodeFrame,
  type Fix,
  type Framer,
  type HttpRequest,
  noSettings,
  type Protocol,
  repliesOf,
  type Session,
  type Transport,
} from '../../protocols/kit/index.ts'

/** What decodes and answers on real sockets, as a gateway does, and can be made to misbehave. */
export interface Receiver {
  readonly ports: Record<string, number>
  /** By device, in the order of arrival, repeats included. */
  readonly fixes: Map<string, Fix[]>
  /** `lost`: fixes are taken, and neither answered nor kept; `deaf`: taken and kept, not answered; connections end. */
  mood: 'good' | 'lost' | 'deaf'
  close(): Promise<void>
}

/** Listens for everything that vans speak, on free ports of 127.0.0.1. */
export async function startReceiver(): Promise<Receiver> {
  const closers: (() => Promise<unknown>)[] = []
  const receiver: Receiver = {
    ports: {},
    fixes: new Map(),
    mood: 'good',
    close: async () => void (await Promise.all(closers.map((close) => close()))),
  }
  for (const protocol of await loadProtocols()) {
    if (protocol.tcp) receiver.ports[`tcp/${protocol.name}`] = await listenTcp(protocol, receiver, closers)
    if (protocol.udp) receiver.ports[`udp/${protocol.name}`] = await listenUdp(protocol, receiver, closers)
    if (protocol.http) receiver.ports[`http/${protocol.name}`] = await listenHttp(protocol, receiver, closers)
  }
  receiver.ports.mqtt = await listenMqtt(receiver, closers)
  return receiver
}

type Closers = (() => Promise<unknown>)[]

/** What the frame is answered; undefined if the connection has to end without an answer. */
function hear(
  frame: Buffer | HttpRequest,
  session: Session,
  protocol: Protocol,
  receiver: Receiver,
): Buffer | undefined {
  session.now = Date.now()
  const { device, fixes = [], reply } = decodeFrame(protocol, frame, session)
  session.device ??= device
  if (fixes.length > 0 && receiver.mood === 'lost') return undefined
  const id = session.device as string
  receiver.fixes.set(id, [...(receiver.fixes.get(id) ?? []), ...fixes])
  return fixes.length > 0 && receiver.mood === 'deaf' ? undefined : Buffer.concat(repliesOf(reply))
}

async function listenTcp(protocol: Protocol, receiver: Receiver, closers: Closers): Promise<number> {
  const server = createServer((socket) => {
    const session = sessionOf('tcp')
    let rest: Buffer = NOTHING
    socket.on('error', () => socket.destroy())
    socket.on('data', (bytes: Buffer) => {
      const heard = cut(Buffer.concat([rest, bytes]), protocol.tcp?.frame as Framer, session)
      rest = heard.rest
      for (const frame of heard.frames) {
        const reply = hear(frame, session, protocol, receiver)
        if (reply === undefined) {
          socket.destroy()
          return
        }
        socket.write(reply)
      }
    })
    closers.push(async () => socket.destroy())
  })
  return listening(server, closers)
}

async function listenUdp(protocol: Protocol, receiver: Receiver, closers: Closers): Promise<number> {
  const socket = createSocket('udp4')
  socket.on('message', (bytes, { port, address }) => {
    const reply = hear(bytes, sessionOf('udp'), protocol, receiver)
    if (reply && reply.length > 0) socket.send(reply, port, address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  closers.push(() => new Promise<void>((resolve) => socket.close(() => resolve())))
  return socket.address().port
}

async function listenHttp(protocol: Protocol, receiver: Receiver, closers: Closers): Promise<number> {
  const server = createHttpServer((request, response) => {
    const asked = { method: 'GET', uri: request.url ?? '', headers: {}, body: NOTHING }
    const reply = hear(asked, sessionOf('http'), protocol, receiver)
    response.writeHead(reply === undefined ? 503 : 200).end()
  })
  closers.push(async () => server.closeAllConnections())
  return listening(server, closers)
}

async function listenMqtt(receiver: Receiver, closers: Closers): Promise<number> {
  const broker = await Aedes.createBroker()
  const protocols = new Map((await loadProtocols()).map((protocol) => [protocol.name, protocol]))
  broker.authorizePublish = (client, { topic, payload }, callback) => {
    const [first, , last] = topic.split('/')
    const protocol = protocols.get(first === 'owntracks' ? first : last) as Protocol
    const session = { ...sessionOf('mqtt'), device: client?.id }
    const reply = hear(Buffer.from(payload), session, protocol, receiver)
    callback(reply === undefined ? new Error('not stored') : null)
  }
  closers.push(() => new Promise<void>((resolve) => broker.close(() => resolve())))
  return listening(createServer(broker.handle), closers)
}

async function listening(server: Server, closers: Closers): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => new Promise<void>((resolve) => server.close(() => resolve())))
  return (server.address() as AddressInfo).port
}

function sessionOf(transport: Transport): Session {
  return { settingsOf: noSettings, transport, now: 0, lenient: false }
}

const NOTHING = Buffer.alloc(0)
