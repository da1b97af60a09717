import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'

/** Opens a server. Answers its port. @throws the system's error (EADDRINUSE, EACCES …). */
export async function listening(server: Server, host: string, port: number): Promise<number> {
  server.listen({ host, port, backlog: 4096 })
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
