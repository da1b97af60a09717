import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { lstat, mkdir, readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { Logger } from 'pino'
import { writeDurably } from '../durable.ts'
import { UserError } from '../errors.ts'
import { OF_FIRST_VERSION } from '../store/format.ts'

/**
 * What answers at a Unix socket: a Redis that accepts our commands, another program, nothing, or a program that does not
 * answer.
 */
export type EndpointState =
  | { readonly is: 'ours'; readonly pid: number; readonly dir: string; readonly loading: boolean }
  | { readonly is: 'foreign' | 'free' | 'silent' }

/**
 * Returns the path of the socket for the Redis of the folder `dir`, after ending the Redis that a killed run left there: two
 * servers on one folder would both acknowledge, and one would lose what the other wrote. Ends a Redis only by its own
 * command, over a socket that only this user can reach, never by a process id, which may be reused. @throws UserError if the
 * program there does not answer, is no Redis, or is of version 0.1.0.
 */
export async function takeSocket(dir: string, logger?: Logger): Promise<string> {
  const file = join(dir, FILE)
  const socket = await socketOf(dir)
  const last = await lastSocket(file, logger)
  if (last !== undefined) await endLeftover(last, dir)
  await endLeftover(socket, dir)
  await writeDurably(file, JSON.stringify({ socket }))
  return socket
}

/** Returns the socket of the last run's Redis; none for a file that a loss of power emptied, since no process survived that. */
async function lastSocket(file: string, logger?: Logger): Promise<string | undefined> {
  if (!existsSync(file)) return undefined
  const { socket, port } = endpointIn(await readFile(file, 'utf8'))
  // Version 0.1.0 had a port.
  if (typeof port === 'number') throw new UserError(OF_FIRST_VERSION)
  if (typeof socket === 'string') return socket
  logger?.warn(`${file} cannot be read, as after a loss of power: it counts as missing`)
  return undefined
}

function endpointIn(text: string): Readonly<Record<string, unknown>> {
  try {
    return (JSON.parse(text) ?? {}) as Record<string, unknown>
  } catch {
    return {}
  }
}

/** The URL of a Redis that listens on a socket of the file system. */
export function socketUrl(socket: string): string {
  return pathToFileURL(socket).href.replace('file:', 'unix:')
}

/**
 * Resolves to the path of the socket for a Redis folder: in the folder; if that path is too long, in a separate folder in
 * `$XDG_RUNTIME_DIR` or the folder for temporary files. @throws UserError if another user owns that folder.
 */
export async function socketOf(dir: string): Promise<string> {
  const own = join(dir, SOCKET)
  if (Buffer.byteLength(own) <= MAX_PATH_BYTES) return own
  const name = `waybridge-${createHash('sha256').update(dir).digest('hex').slice(0, 16)}`
  const places = [process.env.XDG_RUNTIME_DIR, tmpdir(), '/tmp'].flatMap((place) => (place ? [join(place, name)] : []))
  const folder = places.find((place) => Buffer.byteLength(join(place, SOCKET)) <= MAX_PATH_BYTES) as string
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  const { mode, uid } = await lstat(folder)
  const isOurs = (mode & 0o170077) === DIRECTORY && uid === process.getuid?.()
  if (!isOurs) throw new UserError(`${folder} is not this user's alone: remove it, or choose a shorter data_dir.`)
  return join(folder, SOCKET)
}

/** Asks what answers at a socket; resolves within 3 s. */
export async function inspectEndpoint(socket: string): Promise<EndpointState> {
  const answer = await converse(socket, ['INFO', 'CONFIG GET dir', 'QUIT'])
  if (typeof answer !== 'string') return answer
  const pid = /^process_id:(\d+)/m.exec(answer)?.[1]
  const dir = /\r\ndir\r\n\$\d+\r\n(.*)\r\n/.exec(answer)?.[1]
  if (pid === undefined || dir === undefined) return { is: 'foreign' }
  return { is: 'ours', pid: Number(pid), dir, loading: !/^loading:0/m.test(answer) }
}

/** Ends a Redis; its files are then complete. */
export async function shutDown(socket: string): Promise<void> {
  await converse(socket, ['SHUTDOWN NOSAVE'])
}

/** Resolves once nothing answers there. Redis ends when everything is written. */
async function endLeftover(socket: string, dir: string): Promise<void> {
  const state = await inspectEndpoint(socket)
  if (state.is === 'free') return
  if (state.is === 'ours' && state.dir === dir) {
    await shutDown(socket)
    for (const deadline = performance.now() + SHUTDOWN_MS; performance.now() < deadline; await delay(20))
      if ((await inspectEndpoint(socket)).is === 'free') return
  }
  const fault = state.is === 'foreign' ? 'is no Redis of this folder' : 'does not answer'
  throw new UserError(`A process holds ${socket} of the private Redis and ${fault}: end it, then start again.`)
}

/** Sends inline commands, and returns all answers. The last command ends the connection. */
async function converse(
  path: string,
  commands: readonly string[],
): Promise<string | { is: 'free' | 'silent' | 'foreign' }> {
  const socket = connect(path)
  const signal = AbortSignal.timeout(ANSWER_MS)
  let answer = ''
  try {
    socket.setEncoding('utf8').on('data', (text: string) => (answer += text))
    socket.write(`${commands.join('\r\n')}\r\n`)
    await once(socket, 'end', { signal })
    return answer
  } catch (error) {
    const { code = '', name } = error as NodeJS.ErrnoException
    if (name === 'AbortError') return { is: answer === '' ? 'silent' : 'foreign' }
    return { is: FREE.has(code) ? 'free' : code === 'EAGAIN' ? 'silent' : 'foreign' }
  } finally {
    socket.destroy()
  }
}

const FILE = 'endpoint.json'
const SOCKET = 'redis.sock'
/** The longest path of a socket, without the zero byte at its end: with it 108 bytes on Linux, 104 on macOS. */
const MAX_PATH_BYTES = 103
/** Type and permissions of a folder that only its owner may use. */
const DIRECTORY = 0o040000
const FREE: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOENT'])
const ANSWER_MS = 3000
const SHUTDOWN_MS = 5000
