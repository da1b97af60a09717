import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'

/** Where the private Redis of a data folder listens on loopback, and what it asks for: the same from start to start. */
export interface RedisEndpoint {
  readonly port: number
  readonly password: string
}

/** The endpoint kept in `dir`, or a new one, on a port that is free now. */
export async function keptEndpoint(dir: string): Promise<RedisEndpoint> {
  const text = await readFile(fileOf(dir), 'utf8').catch(ifMissing)
  return text === undefined ? newEndpoint(dir) : (JSON.parse(text) as RedisEndpoint)
}

/** Another port, and another password, since whoever holds the old port may have been told the old one. */
export async function newEndpoint(dir: string): Promise<RedisEndpoint> {
  const endpoint = { port: await freePort(), password: randomBytes(24).toString('hex') }
  const draft = `${fileOf(dir)}.new`
  await writeFile(draft, JSON.stringify(endpoint), { mode: 0o600 })
  await rename(draft, fileOf(dir))
  return endpoint
}

function fileOf(dir: string): string {
  return join(dir, 'endpoint.json')
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
