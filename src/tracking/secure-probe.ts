import { once } from 'node:events'
import { connect } from 'node:tls'
import { openSocket } from './proxy.ts'

/**
 * Returns a function that tells whether a host that cuts or refuses requests without TLS speaks TLS at that port. It asks at
 * most once in half a minute, once a second while the host does not, and never for an https: URL. `proxy`: connects to the
 * host.
 */
export function secureProbe(proxy?: string | null): (url: URL) => Promise<boolean> {
  let againAt = -Infinity
  let answer = Promise.resolve(false)
  return (url) => {
    if (url.protocol !== 'http:') return Promise.resolve(false)
    if (performance.now() < againAt) return answer
    againAt = performance.now() + AGAIN_MS
    answer = speaksTls(url, proxy).then((isSecure) => {
      // A server that has just been restarted may speak TLS a moment later.
      if (!isSecure) againAt = performance.now() + SOON_MS
      return isSecure
    })
    return answer
  }
}

async function speaksTls({ hostname, port }: URL, proxy?: string | null): Promise<boolean> {
  const host = hostname.replace(/^\[|\]$/g, '')
  const target = { host, port: Number(port) || 80 }
  const opened = await openSocket(target, { proxy, timeoutMs: ANSWER_MS }).catch(() => undefined)
  if (!opened) return false
  opened.on('error', () => {})
  // Nothing is sent to it, so its certificate does not matter.
  const socket = connect({ socket: opened, host, rejectUnauthorized: false })
  socket.on('error', () => {})
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(ANSWER_MS) })
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
    opened.destroy()
  }
}

const AGAIN_MS = 30_000
const SOON_MS = 1000
const ANSWER_MS = 2000
