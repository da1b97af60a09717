import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below those that the system gives to connections: else one of them may have a listener's while that is killed. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = []
  for (let port = 20_000 + Math.floor(Math.random() * 10_000); ports.length < count; port++)
    if (await isFree(port)) ports.push(port)
  return ports
}

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
