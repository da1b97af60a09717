import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import { buildConnector, Client } from 'undici'
import { hostPort } from '../domain/addresses.ts'
import { printableUrl } from '../masking.ts'

/** Why a proxy does not connect to a host. Its message has no secret. */
class ProxyError extends Error {
  readonly code = 'PROXY'
}

export interface TunnelOptions {
  /** The URL of the proxy; a user name and a password in it are sent to it. */
  readonly proxy: string
  readonly timeoutMs: number
}

/** The host and port of a URL: IPv6 without brackets. */
export interface HostAndPort {
  readonly host: string
  readonly port: number
}

/** A connection to a host through a proxy (HTTP CONNECT). @throws ProxyError */
export async function openTunnel({ host, port }: HostAndPort, { proxy, timeoutMs }: TunnelOptions): Promise<Socket> {
  const url = new URL(proxy)
  const client = new Client(url.origin, { allowH2: false, connect: { timeout: timeoutMs } })
  const path = hostPort({ host, port })
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const { socket, statusCode } = await client.connect({ path, headers: { host: path, ...credentials(url) }, signal })
    if (statusCode === 200) return socket as Socket
    socket.destroy()
    throw new ProxyError(`the proxy ${printableUrl(url.origin)} answers ${statusCode}`)
  } catch (error) {
    if (error instanceof ProxyError) throw error
    const { code, name } = error as NodeJS.ErrnoException
    throw new ProxyError(`the proxy ${printableUrl(url.origin)} does not answer (${code ?? name})`)
  } finally {
    void client.close()
  }
}

/** A function returns the same object until the settings change. */
export type TlsSettings = SecureContextOptions | (() => SecureContextOptions | undefined)

/** How undici connects to a host: directly, or through a proxy. */
export function connectorOf({
  proxy,
  timeoutMs,
  tls,
}: Omit<TunnelOptions, 'proxy'> & { readonly proxy?: string | null; readonly tls?: TlsSettings }): Connector {
  const tlsNow = typeof tls === 'function' ? tls : () => tls
  const connectorBy = (context?: SecureContextOptions) =>
    buildConnector({ ...context, allowH2: false, timeout: timeoutMs })
  let known = tlsNow()
  let connector = connectorBy(known)
  const secure: Connector = (...given) => {
    const context = tlsNow()
    // A connector resumes TLS sessions.
    if (context !== known) connector = connectorBy((known = context))
    return connector(...given)
  }
  if (!proxy) return secure
  const connectThrough: Connector = async (options, callback) => {
    const { hostname, port, protocol } = options
    const isSecure = protocol === 'https:'
    const target = { host: hostname, port: Number(port) || (isSecure ? 443 : 80) }
    const socket = await openTunnel(target, { proxy, timeoutMs }).catch((error: Error) => error)
    if (socket instanceof Error) callback(socket, null)
    else if (isSecure) secure({ ...options, httpSocket: socket }, callback)
    else callback(null, socket)
  }
  return connectThrough
}

type Connector = (...given: Parameters<ReturnType<typeof buildConnector>>) => unknown

/** A connection to a host: direct, or through a proxy. @throws an error of the system, ProxyError, TimeoutError */
export async function openSocket(
  target: HostAndPort,
  { proxy, timeoutMs }: Omit<TunnelOptions, 'proxy'> & { readonly proxy?: string | null },
): Promise<Socket> {
  if (proxy) return openTunnel(target, { proxy, timeoutMs })
  const socket = connect(target)
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(timeoutMs) })
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  }
}

/** Returns the credentials for the proxy. */
function credentials({ username, password }: URL): Record<string, string> {
  if (username === '') return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` }
}
