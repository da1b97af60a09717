import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { UserError } from '../errors.ts'

/** Where the private Redis of a data folder listens on loopback, and its password: the same from start to start. */
export interface RedisEndpoint {
  readonly port: number
  readonly password: string
}

/** What is on a port: a Redis that accepts our password, another program, nothing, or a program that does not answer. */
export type PortState =
  | { readonly is: 'ours'; readonly pid: number; readonly dir: string; readonly loading: boolean }
  | { readonly is: 'foreign' | 'free' | 'silent' }

/**
 * The endpoint kept in `dir`, after ending the Redis that a killed run left behind there: two servers on one folder would
 * both acknowledge, and one would lose what the other wrote. A new endpoint if another program has the port.
 * @throws UserError if a process holds the port and does not answer.
 */
export async function takeEndpoint(dir: string): Promise<RedisEndpoint> {
  const file = join(dir, FILE)
  if (!existsSync(file)) return newEndpoint(dir)
  const kept = JSON.parse(await readFile(file, 'utf8')) as RedisEndpoint
  return (await endLeftover(kept, dir)) ? kept : newEndpoint(dir)
}

/** Asks what listens on the endpoint's port; answers within 3 s. */
export async function inspectPort({ port, password }: RedisEndpoint): Promise<PortState> {
  const answer = await converse(port, [`AUTH ${password}`, 'INFO', 'CONFIG GET dir', 'QUIT'])
  if (typeof answer !== 'string') return answer
  const pid = /^process_id:(\d+)/m.exec(answer)?.[1]
  const dir = /\r\ndir\r\n\$\d+\r\n(.*)\r\n/.exec(answer)?.[1]
  if (!answer.startsWith('+OK') || pid === undefined || dir === undefined) return { is: 'foreign' }
  return { is: 'ours', pid: Number(pid), dir, loading: !/^loading:0/m.test(answer) }
}

/** A free port, and a new password too: the program that holds the old port may have received the old one. */
async function newEndpoint(dir: string): Promise<RedisEndpoint> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  const endpoint = { port, password: randomBytes(24).toString('hex') }
  const draft = join(dir, `${FILE}.new`)
  await writeFile(draft, JSON.stringify(endpoint), { mode: 0o600 })
  await rename(draft, join(dir, FILE))
  return endpoint
}

/** Returns whether the port is free now. Redis closes it when everything is written. */
async function endLeftover(endpoint: RedisEndpoint, dir: string): Promise<boolean> {
  const { port, password } = endpoint
  const state = await inspectPort(endpoint)
  if (state.is !== 'silent') {
    if (state.is !== 'ours' || state.dir !== dir) return state.is === 'free'
    await converse(port, [`AUTH ${password}`, 'SHUTDOWN NOSAVE'])
    for (const deadline = Date.now() + SHUTDOWN_MS; Date.now() < deadline; await delay(20))
      if ((await inspectPort(endpoint)).is === 'free') return true
  }
  throw new UserError(
    `A process holds port ${port} of the private Redis and does not answer: end it, then start again.`,
  )
}

/** Sends inline commands, of which the last one ends the connection, and returns everything that came back. */
async function converse(port: number, commands: string[]): Promise<string | { is: 'free' | 'silent' | 'foreign' }> {
  const socket = connect(port, '127.0.0.1')
  const signal = AbortSignal.timeout(ANSWER_MS)
  let answer = ''
  try {
    socket.setEncoding('utf8').on('data', (text: string) => (answer += text))
    socket.write(`${commands.join('\r\n')}\r\n`)
    await once(socket, 'end', { signal })
    return answer
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException
    if (name === 'AbortError') return { is: answer === '' ? 'silent' : 'foreign' }
    return { is: code === 'ECONNREFUSED' ? 'free' : 'foreign' }
  } finally {
    socket.destroy()
  }
}

const FILE = 'endpoint.json'
const ANSWER_MS = 3000
const SHUTDOWN_MS = 5000
