import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import { countPositions, positionsIn } from '../../../src/sandbox/demo/account.ts'
import { createTrackingService, type TrackingService } from '../../../src/sandbox/tracking/service.ts'
import type { ApiAnswer } from '../../../src/tracking/answer.ts'
import { createTrackingClient, type TrackingClient } from '../../../src/tracking/client.ts'
import { PROVISIONING, temporaryFolder } from '../../support/tracking/service.ts'

const folder = temporaryFolder()
const ended: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end()
})

async function startProcess(
  databaseFile: string,
  route = '1001',
): Promise<{ child: ChildProcess; client: TrackingClient; url: string }> {
  const script = join(import.meta.dirname, '../../support/tracking/service-process.ts')
  const child = spawn(process.execPath, [script, databaseFile, route], { stdio: ['ignore', 'pipe', 'inherit'] })
  ended.push(() => child.kill('SIGKILL'))
  const [port] = (await once(child.stdout, 'data')) as [Buffer]
  const url = `http://127.0.0.1:${Number(port)}`
  const client = createTrackingClient({ baseUrl: url, timeoutMs: 20_000, connections: 16 })
  ended.push(() => client.close())
  return { child, client, url }
}

function startService(databaseFile: string, port = 0, provisioning = PROVISIONING): Promise<TrackingService> {
  const listen = { host: '127.0.0.1', port }
  const logger = pino({ level: 'silent' })
  return createTrackingService({ listen, databaseFile, provisioning, timeLimitMs: 60_000, logger })
}

async function start(databaseFile: string, connections: number) {
  const service = await startService(databaseFile)
  const client = createTrackingClient({ baseUrl: `http://127.0.0.1:${service.port}`, timeoutMs: 20_000, connections })
  return { service, client }
}

function push(client: TrackingClient, time: number): Promise<ApiAnswer> {
  const body = `{"positions":[{"accuracy":1,"point":{"lat":1,"lon":1},"timestamp":${time}}]}`
  return client.push({ courier: '42', route: '1001', apikey: 'key-7', body })
}

/** Pushes positions one by one from `first` until the service ends; returns those answered with 200. */
async function pushUntilGone(
  client: TrackingClient,
  first: number,
  answered: (count: number) => void,
): Promise<number[]> {
  const accepted: number[] = []
  for (let time = first; ; time++) {
    const answer = await push(client, time)
    if ('fault' in answer) return accepted
    expect(answer).toMatchObject({ status: 200 })
    accepted.push(time)
    answered(accepted.length)
  }
}

const ROUTE = { company: '7', route: '1001', oauthToken: 'token-7' }

describe('an answered push', () => {
  it('the service keeps answered pushes after a SIGKILL under load', async () => {
    const databaseFile = join(folder, 'killed.sqlite')
    const { child, client } = await startProcess(databaseFile)
    const killWhenBusy = (count: number) => count === 100 && child.kill('SIGKILL')
    const lanes = Array.from({ length: 16 }, (_, lane) => pushUntilGone(client, lane * 100_000, killWhenBusy))
    const accepted = (await Promise.all(lanes)).flat()
    expect(accepted.length).toBeGreaterThanOrEqual(100)

    const again = await startProcess(databaseFile)
    const read = new Set<number>()
    for (let lane = 0; lane < 16; lane++) {
      const from = lane * 100_000
      for (const { timestamp } of await positionsIn(again.client, ROUTE, { from, to: from + 7_200 }))
        read.add(timestamp)
    }
    expect(accepted.filter((time) => !read.has(time))).toEqual([])
  })

  it('the service reads pushed positions after a restart', async () => {
    const databaseFile = join(folder, 'closed.sqlite')
    for (const time of [1, 2]) {
      const { service, client } = await start(databaseFile, 1)
      expect(await push(client, time)).toMatchObject({ status: 200 })
      expect(await positionsIn(client, ROUTE, { from: 0, to: 9 })).toHaveLength(time)
      await client.close()
      await service.close()
    }
  })

  it('the service stores pushes that arrive while it closes', async () => {
    const databaseFile = join(folder, 'closing.sqlite')
    const { service, client } = await start(databaseFile, 32)
    const answers = Array.from({ length: 256 }, (_, time) => push(client, time))
    await Promise.race(answers)
    await service.close()
    const outcomes = (await Promise.all(answers)).map((answer) =>
      'status' in answer ? answer.status : 'fault' in answer && answer.fault,
    )
    await client.close()
    const accepted = outcomes.filter((outcome) => outcome === 200).length
    expect(accepted).toBeGreaterThanOrEqual(1)
    expect(countPositions(databaseFile).stored).toBeGreaterThanOrEqual(accepted)
    expect(new Set([...outcomes, 200, 503, 'reset', 'refused'])).toEqual(new Set([200, 503, 'reset', 'refused']))
  })
})

it('the service keeps a lane after a SIGKILL and a start without it', async () => {
  const databaseFile = join(folder, 'lane.sqlite')
  const { child, client } = await startProcess(databaseFile)
  expect(await push(client, 1)).toMatchObject({ status: 200 })
  child.kill('SIGKILL')
  await once(child, 'exit')
  const again = await startProcess(databaseFile, '1002')
  expect(await push(again.client, 2)).toMatchObject({ status: 200 })
})

/** Returns the answer to company 7, to a POST if there is a body; status 0 if the service has ended. */
async function ask(url: string, body?: object): Promise<{ status: number; json: unknown }> {
  const headers = { authorization: 'OAuth token-7', 'content-type': 'application/json' }
  try {
    const answer = await fetch(url, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) })
    return { status: answer.status, json: await answer.json() }
  } catch {
    return { status: 0, json: undefined }
  }
}

/** Answers about an order of two items, one of them returned, and a number with the same id. */
interface Written {
  readonly id: number
  readonly items?: unknown
  readonly returned?: unknown
  readonly number?: unknown
}

/** Writes an order and a number; returns the answers until the service ends. */
async function writeOne(url: string, id: number): Promise<Written> {
  const write = async (path: string, body: object) => {
    const { status, json } = await ask(url + path, body)
    expect([0, 200]).toContain(status)
    return json
  }
  const both = ['A', 'B'].map((number) => ({ number, description: '', price: '1', total_count: 3 }))
  const items = await write(`/api/v1/companies/7/orders/${id}/items`, both)
  if (!items) return { id }
  const { id: item_id } = (items as { id: number }[])[1]
  const returned = await write(`/companies/7/orders/${id}:return`, [{ item_id, undelivered_count: 2 }])
  if (!returned) return { id, items }
  return { id, items, returned, number: await write(`/api/v1/companies/7/numbers/${id}`, { number: `${id}` }) }
}

describe('answered items, returns and numbers', () => {
  it('the service keeps answered items, returns and numbers after a SIGKILL, and no half request', async () => {
    const databaseFile = join(folder, 'killed-items.sqlite')
    const { child, url } = await startProcess(databaseFile)
    const written: Written[] = []
    const writeUntilGone = async (first: number) => {
      for (let id = first; ; id++) {
        const one = await writeOne(url, id)
        written.push(one)
        if (!one.number) return
        if (written.length === 60) child.kill('SIGKILL')
      }
    }
    await Promise.all(Array.from({ length: 8 }, (_, n) => writeUntilGone(n * 1_000)))
    expect(written.filter(({ number }) => number).length).toBeGreaterThanOrEqual(60)

    const again = await startProcess(databaseFile)
    for (const { id, items, returned, number } of written) {
      const { json } = await ask(`${again.url}/api/v1/companies/7/orders/${id}/items`)
      const { results = [] } = json as { results?: unknown[] }
      expect(items ? [2] : [0, 2]).toContain(results.length)
      if (items) expect(results[0]).toEqual((items as unknown[])[0])
      if (returned) expect([results[1]]).toEqual(returned)
      if (number) expect(await ask(`${again.url}/api/v1/companies/7/numbers/${id}`)).toMatchObject({ json: number })
    }
  })
})

describe('a service that cannot start', () => {
  it('the service does not start on a port in use', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    ended.push(() => server.close())
    const { port } = server.address() as AddressInfo
    await expect(startService(join(folder, 'taken.sqlite'), port)).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })

  it('the service keeps its lanes unchanged when a start fails', async () => {
    const databaseFile = join(folder, 'untouched.sqlite')
    const { service, client } = await start(databaseFile, 1)
    const none = { companies: [], routes: [], exhaustive: true }
    await expect(startService(databaseFile, service.port, none)).rejects.toMatchObject({ code: 'EADDRINUSE' })
    expect(await push(client, 1)).toMatchObject({ status: 200 })
    await client.close()
    await service.close()
  })
})
