import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { connect, type Store } from '../../src/store/index.ts'
import { dialRedis } from './redis.ts'

/** A connection to Redis that breaks, once, before the next answer arrives. */
export async function breaking(url: string): Promise<{ connection: Store; breakNext(): void }> {
  let isBreaking = false
  const proxy = createServer((near: Socket) => {
    const far = dialRedis(url)
    near.pipe(far).on('data', (bytes: Buffer) => {
      if (isBreaking) near.destroy()
      else near.write(bytes)
      isBreaking = false
    })
    for (const [one, other] of [[near, far] as const, [far, near] as const])
      one.on('error', () => {}).on('close', () => other.destroy())
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const { port } = proxy.address() as AddressInfo
  const connection = connect(`redis://127.0.0.1:${port}`, 'breaking')
  onTestFinished(() => {
    connection.disconnect()
    proxy.close()
  })
  await once(connection, 'ready')
  return { connection, breakNext: () => void (isBreaking = true) }
}
