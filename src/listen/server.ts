import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import type { Logger } from '../observe/log.ts'

/** Opens a server. Answers its port. @throws the system's error (EADDRINUSE, EACCES …). */
export async function listening(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
  logger: Logger,
): Promise<number> {
  server.listen({ host, port, backlog: 4096 })
  await once(server, 'listening')
  // Too many open files: those that are open go on.
  server.on('error', (error) => logger.error({ err: error }, 'a connection could not be accepted'))
  return (server.address() as AddressInfo).port
}

/** Accepts no connection any more; resolves once the last one is over. */
export function ended(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()))
}
