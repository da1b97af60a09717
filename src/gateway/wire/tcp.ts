import { createServer } from 'node:net'
import { within } from '../../async.ts'
import { Acceptor } from '../admit/acceptor.ts'
import { Connections } from '../admit/connections.ts'
import { CLOSE_WAIT_MS, type Listener, type ProtocolEndpoint, type Shared } from './listener.ts'
import { TcpConnection, type TcpContext } from './tcp-connection.ts'

export async function listenTcp(endpoint: ProtocolEndpoint, shared: Shared): Promise<Listener> {
  const { protocol, name = 'tcp' } = endpoint
  const server = createServer(SOCKETS)
  const acceptor = new Acceptor('tcp', endpoint, shared)
  const opened = await acceptor.open(server, SOCKETS)
  const connections = new Connections<TcpConnection>(name, shared)
  const context: TcpContext = { ...shared, protocol, port: opened.port, connections, isClosing: false }
  acceptor.accept(server, (socket, origin) => connections.add(new TcpConnection(context, socket, origin)))
  return {
    port: opened.port,
    async close(waitMs = CLOSE_WAIT_MS) {
      context.isClosing = true
      const handshakes = acceptor.close()
      connections.close()
      const closed = opened.close()
      for (const connection of connections.open) connection.close()
      await within(waitMs, closed)
      for (const connection of connections.open) connection.destroy()
      await Promise.all([closed, handshakes])
    },
  }
}

const SOCKETS = { allowHalfOpen: true, keepAlive: true, keepAliveInitialDelay: 60_000 }
