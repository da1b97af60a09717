import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below those that the system gives to connections: else one of them may have a listener's while that is killed. Each
 * process of tests begins elsewhere and takes none twice: who asks for a port listens on it only later.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = []
  for (; ports.length < count; next++) if (await isFree(next)) ports.push(next)
  return ports
}

let next = 20_000 + Math.floor(1000 * Number(process.env.VITEST_POOL_ID ?? 9 * Math.random()) + 700 * Math.random())
async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
