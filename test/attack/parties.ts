import { createServer } from 'node:http'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import mqttPacket, { type Packet } from 'mqtt-packet'
import { listening } from '../support/listening.ts'
import { type Cost, HOST } from './attacker-connections.ts'

/** Somebody whom a gateway trusts with a part of its work, and who attacks it from `begin` on. */
interface Party {
  /** Lines of gateway.yaml by which the gateway talks to the party. */
  readonly settings: Readonly<Record<string, string>>
  begin(signal: AbortSignal): void
}

/** What is written on a connection: once, and then again and again, as fast as it is read or every so often. */
interface Flood {
  readonly first?: () => string
  readonly rest?: () => string | Buffer
  readonly everyMs?: number
}

const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
const GIGABYTE = 'HTTP/1.1 200 OK\r\ncontent-length: 1073741824\r\n\r\n'
const LONG = 'x'.repeat(65_536)
const BLANKS = '1\r\n \r\n'.repeat(10_000)
const LINES = '\r\n'.repeat(30_000)
const HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'.repeat(500)
/** A configured device that no honest van uses. */
const KNOWN = '360000000000000'

/** Parties that attack the gateway that talks to them, by name. */
export const PARTIES = {
  'API: a body that never ends': api({ first: () => 'HTTP/1.1 200 OK\r\n\r\n', rest: () => LONG }),
  'API: 200 with 1 GB': api({ first: () => GIGABYTE, rest: () => LONG }),
  'API: blanks in pieces of one byte': api({ first: () => CHUNKED, rest: () => BLANKS }),
  'API: a header a second': api({ first: () => 'HTTP/1.1 200 OK\r\n', rest: () => 'x: y\r\n', everyMs: 1000 }),
  'API: early hints without an answer': api({ rest: () => HINTS }),
  'API: blank lines without an answer': api({ rest: () => LINES }),
  'API: another refusal for each position': api({ first: refusal }),
  'API: redirects to somebody else': redirectingApi,
  'broker: SUBACK that nobody asked for': broker(repeated({ cmd: 'suback', messageId: 1, granted: [1] }, 10_000)),
  'broker: CONNACK that nobody asked for': broker(
    repeated({ cmd: 'connack', sessionPresent: false, reasonCode: 0 }, 10_000),
  ),
  'broker: PINGRESP that nobody asked for': broker(repeated({ cmd: 'pingresp' }, 30_000)),
  'broker: messages of other topics, deaf': broker(publications('other', 1000), true),
  'broker: messages of 1 MB': broker(publications(`fleet/${KNOWN}/pos`, 1, 1_000_000)),
  'broker: fixes of a configured device': broker(publications(`fleet/${KNOWN}/pos`, 100)),
  'broker: fixes of ids that nobody has': broker(() => publications(`fleet/${Math.random()}/pos`, 20)),
} satisfies Record<string, (cost: Cost) => Promise<Party>>

/** A tracking API that accepts each push, and then answers with a flood. */
function api(flood: Flood): (cost: Cost) => Promise<Party> {
  return async (cost) => {
    let stop: AbortSignal | undefined
    const server = createServer((request, response) => {
      request.resume().on('end', () => {
        if (stop) void pour(request.socket, flood, { cost, signal: stop })
        else response.end()
      })
    })
    const settings = { tracking: `{ base_url: "http://${HOST}:${await listening(server)}" }` }
    return { settings, begin: (signal) => void (stop = signal) }
  }
}

/** A tracking API that sends each push to a server that must not get one. */
async function redirectingApi(cost: Cost): Promise<Party> {
  let stop: AbortSignal | undefined
  const other = createServer((request, response) => {
    cost.told.push(`${request.method} ${request.url} at the target of a redirect`)
    response.end()
  })
  const location = `http://${HOST}:${await listening(other)}`
  const server = createServer((request, response) => {
    request.resume()
    cost.units++
    if (stop) response.writeHead(307, { location: location + request.url })
    response.end()
  })
  const settings = { tracking: `{ base_url: "http://${HOST}:${await listening(server)}" }` }
  return { settings, begin: (signal) => void (stop = signal) }
}

/** A broker of a bridge that behaves well, and then floods its connections; `isDeaf`: and reads nothing more. */
function broker(rest: Buffer | (() => Buffer), isDeaf = false): (cost: Cost) => Promise<Party> {
  return async (cost) => {
    let stop: AbortSignal | undefined
    const sockets = new Set<Socket>()
    const attack = (socket: Socket, signal: AbortSignal) => {
      if (isDeaf) socket.pause()
      void pour(socket, { rest: typeof rest === 'function' ? rest : () => rest }, { cost, signal })
    }
    const server = createTcpServer((socket) => {
      sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)))
      serve(socket, () => stop && attack(socket, stop))
    })
    const topics = '{ fleet/+/pos: fix }'
    const bridge = `{ url: "mqtt://${HOST}:${await listening(server)}", topics: ${topics} }`
    return {
      settings: { mqtt: `{ broker: { host: ${HOST}, port: 0 }, bridges: [${bridge}] }` },
      begin(signal) {
        stop = signal
        for (const socket of sockets) attack(socket, signal)
      },
    }
  }
}

/** Answers as a broker of MQTT 5 does. `subscribed` is called once the client is. */
function serve(socket: Socket, subscribed: () => void): void {
  const parser = mqttPacket.parser({ protocolVersion: 5 })
  const send = (packet: Packet) => socket.write(mqttPacket.generate(packet, { protocolVersion: 5 }))
  parser.on('packet', (packet) => {
    if (packet.cmd === 'connect') send({ cmd: 'connack', sessionPresent: false, reasonCode: 0 })
    else if (packet.cmd === 'pingreq') send({ cmd: 'pingresp' })
    else if (packet.cmd === 'subscribe') {
      send({ cmd: 'suback', messageId: packet.messageId, granted: [1] })
      subscribed()
    }
  })
  socket.on('data', (bytes) => parser.parse(bytes))
}

function repeated(packet: Packet, times: number): Buffer {
  return Buffer.concat(Array.from({ length: times }, () => mqttPacket.generate(packet, { protocolVersion: 5 })))
}

/** Publications with QoS 1 of a fix of now, with blanks up to a length. */
function publications(topic: string, times: number, length = 0): Buffer {
  const fix = JSON.stringify({ timestamp: Math.floor(Date.now() / 1000), lat: 48.1, lon: 11.5 })
  return repeated(
    { cmd: 'publish', topic, payload: fix.padEnd(length), qos: 1, messageId: 7, dup: false, retain: false },
    times,
  )
}

function refusal(): string {
  const text = Math.random().toString(36).repeat(200)
  return `HTTP/1.1 422 No\r\ncontent-length: ${text.length}\r\n\r\n${text}`
}

/** Writes until the connection or the attack ends. */
async function pour(
  socket: Socket,
  { first, rest, everyMs = 0 }: Flood,
  { cost, signal }: { cost: Cost; signal: AbortSignal },
): Promise<void> {
  cost.units++
  if (first) socket.write(first())
  if (!rest) return
  while (!signal.aborted && !socket.destroyed) {
    const bytes = rest()
    if (socket.writableLength < AHEAD_BYTES) {
      socket.write(bytes)
      cost.bytes += bytes.length
    }
    await sleep(socket.writableLength < AHEAD_BYTES ? everyMs : 1)
  }
  socket.destroy()
}

const AHEAD_BYTES = 1 << 20
