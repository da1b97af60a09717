import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { listening } from '../support/listening.ts'
import type { Machine } from './site.ts'

/** `cut`: breaks off in the middle of what a van sends; `deaf`: takes what a van sends, and breaks off in place of the answer. */
export interface Weather {
  mood: 'good' | 'cut' | 'deaf'
  /** Connections broken so far. */
  broken: number
}

/** A port of its own for each place where the gateways listen. TCP alone: datagrams go to a gateway itself. */
export async function openWires(gateways: readonly Pick<Machine, 'ports'>[], weather: Weather) {
  const places = Object.keys(gateways[0].ports).filter((place) => !place.startsWith('udp/'))
  const portsOf = (place: string) => gateways.map(({ ports }) => ports[place])
  const opened = await Promise.all(
    places.map(async (place) => [place, await openWire(portsOf(place), weather)] as const),
  )
  return {
    ports: Object.fromEntries(opened.map(([place, wire]) => [place, wire.port])),
    close: async () => void (await Promise.all(opened.map(([, wire]) => wire.close()))),
  }
}

/** Between vans and gateways, over TCP: hands on what is sent, and can be bad at it. */
interface Wire {
  readonly port: number
  close(): Promise<void>
}

/**
 * Opens a port that leads to others of this machine, one connection to each in turn: as a load balancer does that does not
 * look whether anybody is there.
 */
async function openWire(to: readonly number[], weather: Weather): Promise<Wire> {
  const sockets = new Set<Socket>()
  let count = 0
  const server = createServer((van) => {
    const gateway = connect({ port: to[count++ % to.length], host: '127.0.0.1', noDelay: true })
    const end = () => {
      van.destroy()
      gateway.destroy()
    }
    for (const socket of [van, gateway]) {
      sockets.add(socket)
      socket.on('error', end).on('close', () => {
        sockets.delete(socket)
        end()
      })
    }
    van.on('data', (bytes: Buffer) => {
      if (breaks('cut', weather)) gateway.write(bytes.subarray(0, bytes.length / 2), end)
      else gateway.write(bytes)
    })
    gateway.on('data', (bytes: Buffer) => (breaks('deaf', weather) ? end() : void van.write(bytes)))
  })
  return {
    port: await listening(server),
    async close() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

function breaks(mood: Weather['mood'], weather: Weather): boolean {
  if (weather.mood !== mood || Math.random() > SHARE_BROKEN) return false
  weather.broken++
  return true
}

const SHARE_BROKEN = 0.3
