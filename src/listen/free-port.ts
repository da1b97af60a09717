import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, isIPv6 } from 'node:net'

interface SharedPort {
  readonly transport: 'tcp' | 'udp'
  readonly host: string
  /** 0: any free one. */
  readonly port: number
}

/**
 * Finds out that no program uses a port; answers it. A port that is opened to be shared is shared with every program of this user
 * that asks for that, so it is opened alone first. @throws the system's error (EADDRINUSE, EACCES …).
 */
export async function freePort({ transport, host, port }: SharedPort): Promise<number> {
  const socket = transport === 'udp' ? createSocket(isIPv6(host) ? 'udp6' : 'udp4') : createServer()
  if ('bind' in socket) socket.bind(port, host)
  else socket.listen({ host, port })
  await once(socket, 'listening')
  const { port: free } = socket.address() as AddressInfo
  socket.close()
  await once(socket, 'close')
  return free
}
