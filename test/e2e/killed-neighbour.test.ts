import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { dial } from '../support/listen.ts'
import type { TestRedis } from '../support/redis.ts'
import { type Program, run, temporaryDir } from '../support/running.ts'
import { withRedis } from '../support/with-redis.ts'

const CLI = fileURLToPath(new URL('../../src/cli/index.ts', import.meta.url))
const MOST = 5

let server: TestRedis
withRedis((started) => void (server = started))

/** Starts a single gateway; all gateways of a folder share the limit of connections. */
async function standalone(dir: string): Promise<Program & { readonly port: number }> {
  const program = run([CLI, 'gateway', '--config', dir])
  const portOf = () => /"tcp\/wialon":(\d+)/.exec(program.said())?.[1]
  await expect.poll(() => portOf() ?? program.said(), { timeout: 15_000 }).toMatch(/^\d+$/)
  return { ...program, port: Number(portOf()) }
}

async function isServed(port: number): Promise<boolean> {
  const peer = await dial(port)
  peer.say('#P#\r\n')
  await expect.poll(() => peer.over || peer.heard !== '', { timeout: 10_000 }).toBe(true)
  peer.socket.destroy()
  return peer.heard !== ''
}

it('a gateway serves vans again after its neighbour with all connections was killed', async () => {
  const dir = await temporaryDir()
  await writeFile(
    join(dir, 'gateway.yaml'),
    [
      'companies: [{ company_id: 7, apikey: k }]',
      `data_dir: ${JSON.stringify(join(dir, 'data'))}`,
      `redis: { url: ${JSON.stringify(server.url)}, durability: relaxed }`,
      'tracking: { base_url: "http://127.0.0.1:9" }',
      'listeners: [{ transport: tcp, protocol: wialon, port: 0 }]',
      'mqtt: { broker: null }',
      'monitor: { port: 0 }',
      `limits: { max_connections: ${MOST} }`,
    ].join('\n'),
  )
  const [one, other] = [await standalone(dir), await standalone(dir)]
  await Promise.all(Array.from({ length: MOST }, () => dial(other.port)))
  await expect.poll(() => isServed(one.port), { timeout: 30_000 }).toBe(false)
  other.child.kill('SIGKILL')
  await other.ended
  const again = await standalone(dir)
  await expect.poll(() => isServed(one.port), { timeout: 30_000 }).toBe(true)
  expect(await isServed(again.port)).toBe(true)
})
