import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { KnownHost } from '../../../src/gateway/wire/trial/known-host.ts'
import { listening } from '../../support/listening.ts'

const V4 = { address: '127.0.0.1', family: 4 }
const V6 = { address: '::1', family: 6 }

/** Resolves to the addresses or the error that a socket gets. */
function asked({ lookup }: KnownHost, options: Parameters<KnownHost['lookup']>[1] = { all: true }): Promise<unknown> {
  return new Promise((resolve) =>
    lookup('old.example', options, (error, address) => resolve(error?.message ?? address)),
  )
}

it('resolves a real host name for streams and datagrams', async () => {
  const { lookup, lookupOne } = new KnownHost('localhost')
  const server = createServer((socket) => socket.end())
  const port = await listening(server)
  onTestFinished(() => void server.close())
  const stream = connect({ host: 'localhost', port, lookup })
  await once(stream, 'connect')
  stream.destroy()
  const datagrams = createSocket({ type: 'udp4', lookup: lookupOne })
  onTestFinished(() => void datagrams.close())
  datagrams.connect(port, 'localhost')
  await once(datagrams, 'connect')
  expect(datagrams.remoteAddress().address).toBe('127.0.0.1')
})

it('resolves a host name once at a time, and keeps the addresses while no name server answers', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const answers: PromiseWithResolvers<(typeof V4)[]>[] = []
  const host = new KnownHost('old.example', () => {
    answers.push(Promise.withResolvers())
    return answers.at(-1)!.promise
  })
  const first = [asked(host), asked(host)]
  answers[0].resolve([V4])
  expect([await Promise.all(first), answers.length]).toEqual([[[V4], [V4]], 1])
  expect([await asked(host), answers.length]).toEqual([[V4], 1])
  vi.advanceTimersByTime(11_000)
  // Nobody answers.
  expect([await asked(host), await asked(host), answers.length]).toEqual([[V4], [V4], 2])
  answers[1].reject(new Error('EAI_AGAIN'))
  expect([await asked(host), answers.length]).toEqual([[V4], 2])
  vi.advanceTimersByTime(11_000)
  expect([await asked(host), answers.length]).toEqual([[V4], 3])
  answers[2].resolve([V6])
  await vi.waitFor(async () => expect(await asked(host)).toEqual([V6]))
})

it('reports an error for a wrong host name, or one without an address of the family', async () => {
  const wrong = new KnownHost('old.example', () => Promise.reject(new Error('ENOTFOUND')))
  expect([await asked(wrong), await asked(wrong)]).toEqual(['ENOTFOUND', 'ENOTFOUND'])
  const host = new KnownHost('old.example', () => Promise.resolve([V6]))
  expect(await asked(host, { family: 4 })).toBe('no address of old.example')
  expect([await asked(host, { family: 6 }), await asked(host, { family: 'IPv6', all: true })]).toEqual(['::1', [V6]])
})
