import { createServer, type Socket } from 'node:net'
import { within } from '../../async.ts'
import { Acceptor, type Origin } from '../admit/acceptor.ts'
import { Connections } from '../admit/connections.ts'
import { CLOSE_WAIT_MS, type Listener, type ProtocolEndpoint, type Shared } from './listener.ts'
import { TcpConnection, type TcpContext } from './tcp-connection.ts'
import { openTrial } from './trial/trial.ts'
import { TrialConnections } from './trial/trial-connection.ts'

export async function listenTcp(endpoint: ProtocolEndpoint, shared: Shared): Promise<Listener> {
  const { protocol, name = 'tcp' } = endpoint
  const server = createServer(SOCKETS)
  const acceptor = new Acceptor('tcp', endpoint, shared)
  const opened = await acceptor.open(server, SOCKETS)
  const connections = new Connections<TcpConnection>(name, shared)
  const context: TcpContext = { ...shared, protocol, port: opened.port, connections, isClosing: false }
  const serve = (socket: Socket, origin: Origin) => connections.add(new TcpConnection(context, socket, origin))
  const trial = openTrial(endpoint, shared)
  const trials = trial && new TrialConnections({ ...context, trial }, serve)
  acceptor.accept(server, trials ? (socket, origin) => trials.add(socket, origin) : serve)
  return {
    port: opened.port,
    async close(waitMs = CLOSE_WAIT_MS) {
      context.isClosing = true
      const handshakes = acceptor.close()
      connections.close()
      const closed = opened.close()
      for (const connection of connections.open) connection.close()
      trials?.close()
      await within(
        waitMs,
        closed.then(() => trial?.close()),
      )
      for (const connection of connections.open) connection.destroy()
      await Promise.all([closed, handshakes])
    },
  }
}

const SOCKETS = { allowHalfOpen: true, keepAlive: true, keepAliveInitialDelay: 60_000 }
