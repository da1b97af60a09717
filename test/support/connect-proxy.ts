import http from 'node:http'
import net, { type Socket } from 'node:net'
import { listen } from './tracking/http-servers.ts'

interface ProxyOptions {
  /** The status of each answer; default: the host is connected to. */
  readonly status?: number
  /** `user:password` that it wants. */
  readonly credentials?: string
}

/** An HTTP proxy that ends after the test. `asked`: the hosts that it was asked to connect to. */
export async function startConnectProxy({ status, credentials }: ProxyOptions = {}) {
  const asked: string[] = []
  const server = http.createServer((_, response) => response.writeHead(405).end())
  server.on('connect', (request, socket: Socket, head: Buffer) => {
    const wanted = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`
    const refused = wanted && request.headers['proxy-authorization'] !== wanted ? 407 : status
    socket.on('error', () => {})
    if (refused === undefined) tunnel(request.url ?? '', socket, head)
    else socket.end(`HTTP/1.1 ${refused} No\r\ncontent-length: 0\r\n\r\n`)
  })

  function tunnel(target: string, socket: Socket, head: Buffer): void {
    asked.push(target)
    const { hostname, port } = new URL(`http://${target}`)
    const upstream = net.connect(Number(port) || 80, hostname, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.write(head)
      upstream.pipe(socket).pipe(upstream)
    })
    upstream.on('error', () => socket.destroy())
    socket.on('close', () => upstream.destroy())
  }

  return { url: await listen(server), asked }
}
