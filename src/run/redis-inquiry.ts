import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { UserError } from './errors.ts'
import type { RedisEndpoint } from './redis-endpoint.ts'

const ANSWER_MS = 3000
const SHUTDOWN_MS = 5000

/** Who is on a port: a Redis that takes our password, somebody else, nobody, or one that accepts and says nothing. */
export type Inquiry =
  | { readonly who: 'ours'; readonly pid: number; readonly dir: string; readonly loading: boolean }
  | { readonly who: 'foreign' | 'nobody' | 'silent' }

/** Asks whoever listens on the endpoint's port; answers within 3 s. */
export async function inquire({ port, password }: RedisEndpoint): Promise<Inquiry> {
  const answer = await converse(port, [`AUTH ${password}`, 'INFO', 'CONFIG GET dir', 'QUIT'])
  if (typeof answer !== 'string') return answer
  const pid = /^process_id:(\d+)/m.exec(answer)?.[1]
  const dir = /\r\ndir\r\n\$\d+\r\n(.*)\r\n/.exec(answer)?.[1]
  if (!answer.startsWith('+OK') || pid === undefined || dir === undefined) return { who: 'foreign' }
  return { who: 'ours', pid: Number(pid), dir, loading: !/^loading:0/m.test(answer) }
}

/**
 * Ends the Redis that a killed run left behind on `dir`: two servers on one folder would each acknowledge, and lose what
 * the other one wrote. Answers whether the port is free now; a UserError where it cannot be told.
 */
export async function endLeftover(endpoint: RedisEndpoint, dir: string): Promise<boolean> {
  const found = await inquire(endpoint)
  if (found.who === 'silent') throw new UserError(silence(endpoint.port))
  if (found.who !== 'ours' || found.dir !== dir) return found.who === 'nobody'
  await converse(endpoint.port, [`AUTH ${endpoint.password}`, 'SHUTDOWN NOSAVE'])
  if (!(await isGone(found.pid))) process.kill(found.pid, 'SIGKILL')
  return isGone(found.pid)
}

function silence(port: number): string {
  return `A process holds port ${port} of the private Redis and does not answer: end it, then start again.`
}

async function isGone(pid: number): Promise<boolean> {
  const deadline = Date.now() + SHUTDOWN_MS
  while (isAlive(pid) && Date.now() < deadline) await delay(20)
  return !isAlive(pid)
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Sends inline commands of which the last one ends the connection, and answers with all that came back. */
async function converse(port: number, commands: string[]): Promise<string | { who: 'nobody' | 'silent' | 'foreign' }> {
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
    if (name === 'AbortError') return { who: answer === '' ? 'silent' : 'foreign' }
    return { who: code === 'ECONNREFUSED' ? 'nobody' : 'foreign' }
  } finally {
    socket.destroy()
  }
}
