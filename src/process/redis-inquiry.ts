import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { UserError } from '../errors.ts'
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
 * the other one wrote. Answers whether the port is free now; a UserError where that cannot be brought about.
 */
export async function endLeftover(endpoint: RedisEndpoint, dir: string): Promise<boolean> {
  const found = await inquire(endpoint)
  if (found.who === 'silent') throw new UserError(stuck(endpoint))
  if (found.who !== 'ours' || found.dir !== dir) return found.who === 'nobody'
  await converse(endpoint.port, [`AUTH ${endpoint.password}`, 'SHUTDOWN NOSAVE'])
  if (await isGone(endpoint)) return true
  process.kill(found.pid, 'SIGKILL')
  if (await isGone(endpoint)) return true
  throw new UserError(stuck(endpoint))
}

function stuck({ port }: RedisEndpoint): string {
  return `A process holds port ${port} of the private Redis and does not answer: end it, then start again.`
}

/** Redis closes its port after everything is written. Its process id would stay where nobody waits for its end. */
async function isGone(endpoint: RedisEndpoint): Promise<boolean> {
  const deadline = Date.now() + SHUTDOWN_MS
  while (Date.now() < deadline) {
    if ((await inquire(endpoint)).who === 'nobody') return true
    await delay(20)
  }
  return false
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
