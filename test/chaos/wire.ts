import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Between vans and gateways, over TCP: hands on what is sent, and can be bad at it. */
export interface Wire {
  readonly port: number
  close(): Promise<void>
}

/** `cut`: breaks off in the middle of what a van sends; `deaf`: takes what a van sends, and breaks off in place of the answer. */
export interface Weather {
  mood: 'good' | 'cut' | 'deaf'
  /** Connections broken so far. */
  broken: number
}

/**
 * Opens a port that leads to others of this machine, one connection to each in turn: as a load balancer does that does not
 * look whether anybody is there.
 */
export async function openWire(to: readonly number[], weather: Weather): Promise<Wire> {
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
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
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
