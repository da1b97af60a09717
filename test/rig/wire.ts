import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { listening } from '../support/listening.ts'
import type { Machine } from './site.ts'

/** `cut`: ends connections in the middle of what a van sends; `deaf`: passes it on, and ends the connection in place of the answer. */
export interface WireState {
  mode: 'good' | 'cut' | 'deaf'
  /** Connections broken so far. */
  broken: number
}

/** A port of its own for each place where the gateways listen. TCP alone: datagrams go to a gateway itself. */
export async function openWires(gateways: readonly Pick<Machine, 'ports'>[], wireState: WireState) {
  const places = Object.keys(gateways[0].ports).filter((place) => !place.startsWith('udp/'))
  const portsOf = (place: string) => gateways.map(({ ports }) => ports[place])
  const opened = await Promise.all(
    places.map(async (place) => [place, await openWire(portsOf(place), wireState)] as const),
  )
  return {
    ports: Object.fromEntries(opened.map(([place, wire]) => [place, wire.port])),
    close: async () => void (await Promise.all(opened.map(([, wire]) => wire.close()))),
  }
}

/** A TCP proxy between vans and gateways, which can break connections. */
interface Wire {
  readonly port: number
  close(): Promise<void>
}

/** Opens a port that connects to other ports of this machine in turn, like a load balancer without health checks. */
async function openWire(to: readonly number[], wireState: WireState): Promise<Wire> {
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
      if (breaks('cut', wireState)) gateway.write(bytes.subarray(0, bytes.length / 2), end)
      else gateway.write(bytes)
    })
    gateway.on('data', (bytes: Buffer) => (breaks('deaf', wireState) ? end() : void van.write(bytes)))
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

function breaks(mode: WireState['mode'], wireState: WireState): boolean {
  if (wireState.mode !== mode || Math.random() > SHARE_BROKEN) return false
  wireState.broken++
  return true
}

const SHARE_BROKEN = 0.3
