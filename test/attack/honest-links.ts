import { createSocket } from 'node:dgram'
import { Agent, request } from 'node:http'
import { connect as connectTcp, type Socket } from 'node:net'
import { connectAsync } from 'mqtt'
import { type AvlRecord, avlDatagram, avlLogin, avlPacket } from '../support/encode.ts'
import { HOST } from './attacker-connections.ts'

/** An honest van: the port that it sends to, with its name in ports.json. */
export interface Van {
  readonly id: string
  readonly road: string
  readonly port: number
  /** What it has to present; undefined if it is known by its id alone. */
  readonly secret?: string
}

/** Honest vans stay within 0.01 degrees of it; attackers send other places. */
export const HONEST_PLACE = { latitude: 52.5, longitude: 13.4, satellites: 9 }

/** How an honest van talks to a port. Each method rejects if there is no answer in time, or the connection ends. */
export interface Link {
  /** Resolves once the fix is acknowledged. */
  send(fix: AvlRecord): Promise<void>
  close(): void
}

/** Opens the link of a van, logged in. */
export function linkOf(van: Van): Promise<Link> {
  const [transport] = van.road.split('/')
  return LINKS[transport as keyof typeof LINKS](van)
}

const LINKS = { tcp: overTcp, udp: overUdp, http: overHttp, mqtt: overMqtt }
const TIMEOUT_MS = 10_000
/** Trackers send a datagram again that is not answered. */
const AGAIN_MS = 1000

async function overTcp({ id, port }: Van): Promise<Link> {
  const socket = connectTcp({ port, host: HOST, noDelay: true })
  socket.on('error', () => {})
  const link = {
    send: (fix: AvlRecord) => answerOf(socket, avlPacket(0x08, [fix])),
    close: () => void socket.destroy(),
  }
  return answerOf(socket, avlLogin(id)).then(
    () => link,
    (error: unknown) => {
      link.close()
      throw error
    },
  )
}

async function answerOf(socket: Socket, bytes: Buffer): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const fail = () => reject(new Error('not answered'))
  const timer = setTimeout(fail, TIMEOUT_MS)
  socket.once('data', () => resolve()).once('close', fail)
  socket.write(bytes)
  await promise.finally(() => {
    clearTimeout(timer)
    socket.off('close', fail)
  })
}

async function overUdp({ id, port }: Van): Promise<Link> {
  const socket = createSocket('udp4')
  return {
    async send(fix) {
      const datagram = avlDatagram(id, 0x08, [fix])
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const again = setInterval(() => socket.send(datagram, port, HOST), AGAIN_MS)
      const timer = setTimeout(() => reject(new Error('not answered')), TIMEOUT_MS)
      socket.once('message', () => resolve()).send(datagram, port, HOST)
      await promise.finally(() => {
        clearInterval(again)
        clearTimeout(timer)
        socket.removeAllListeners('message')
      })
    },
    close: () => void socket.close(),
  }
}

async function overHttp({ id, port, secret }: Van): Promise<Link> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return {
    send({ latitude, longitude, time }) {
      const token = secret === undefined ? '' : `&token=${secret}`
      const path = `/?id=${id}${token}&lat=${latitude}&lon=${longitude}&timestamp=${time}`
      return new Promise((resolve, reject) => {
        const asked = request({ host: HOST, port, path, agent, method: 'POST', timeout: TIMEOUT_MS }, (answer) => {
          answer.resume().on('end', () => {
            if (answer.statusCode === 200) resolve()
            else reject(new Error(`answered ${answer.statusCode}`))
          })
        })
        asked.on('error', reject).on('timeout', () => asked.destroy(new Error('not answered')))
        asked.end()
      })
    },
    close: () => agent.destroy(),
  }
}

async function overMqtt({ id, port, secret }: Van): Promise<Link> {
  const client = await connectAsync(`mqtt://${HOST}:${port}`, {
    username: id,
    password: secret,
    clientId: id,
    reconnectPeriod: 0,
    connectTimeout: TIMEOUT_MS,
  })
  const ended = new Promise<never>((_, reject) => client.on('close', () => reject(new Error('connection ended'))))
  ended.catch(() => {})
  client.on('error', () => {})
  return {
    async send({ latitude, longitude, time }) {
      const text = JSON.stringify({ lat: latitude, lon: longitude, timestamp: time / 1000 })
      const late = new Promise<never>((_, reject) => setTimeout(reject, TIMEOUT_MS, new Error('not answered')).unref())
      await Promise.race([client.publishAsync(`devices/${id}/fix`, text, { qos: 1 }), ended, late])
    },
    close: () => void client.end(true),
  }
}
