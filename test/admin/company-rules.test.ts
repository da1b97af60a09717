import { readFile, rename, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { observations } from '../../src/observe/observations.ts'
import { addWatchedFrames, keys } from '../../src/store/index.ts'
import { hold, TOKEN } from '../support/admin.ts'
import { waybridge } from '../support/cli.ts'
import { type Followed, followEvents } from '../support/events.ts'
import { keepFrame } from '../support/kept-frames.ts'
import { listening } from '../support/listening.ts'
import { askAs, fillBoth, heard, TOKEN_7, twoCompanies } from '../support/two-companies.ts'

/** A tracking API that refuses each OAuth token, and records its requests. */
const asked: string[] = []
const api = createServer((request, response) => {
  asked.push(request.url ?? '')
  response.writeHead(401).end()
})
const admin = twoCompanies({ baseUrl: `http://127.0.0.1:${await listening(api)}` })
const [all, seven, both] = [TOKEN, TOKEN_7, 'canary-both'].map((token) => askAs(admin, token))
const VAN = '356307042441014'
const soon = { timeout: 30_000, interval: 50 }

afterAll(() => void api.close())

let puts: Awaited<ReturnType<typeof fillBoth>>
beforeEach(async () => (puts = await fillBoth(admin)))

const messageOf = async (answer: ReturnType<typeof seven>) => {
  const { status, json } = await answer
  return [status, (json as { message: string }).message]
}
const resultsOf = async (answer: ReturnType<typeof seven>) =>
  ((await answer).json as { results: Record<string, unknown>[] }).results

async function follow(token: string, headers = {}): Promise<Followed> {
  const stream = await followEvents(`${admin.url}/admin/events`, { authorization: `Bearer ${token}`, ...headers })
  onTestFinished(() => stream.close())
  return stream
}

const WATCHED = { transport: 'tcp', remote: '10.1.2.3:1', protocol: 'h02', bytes: '', size: 0, fixes: [], fixCount: 0 }
const numbers = (company: number) => `/api/v1/companies/${company}/numbers`
const giveName = (id: string, company: number) =>
  all(`/admin/devices/${id}`, { method: 'PUT', body: { company_id: company, name: `${id} renamed` } })

describe('a token for company 7', () => {
  it('a token for company 7 reads its own name, role and companies', async () => {
    expect((await seven('/admin/token')).json).toEqual({ name: 'seven', role: 'operate', companies: ['7'] })
    expect((await all('/admin/token')).json).not.toHaveProperty('companies')
  })

  it('a token for company 7 sees in the status the figures of its company, but none of the whole system', async () => {
    const status = async (ask: typeof seven) => (await ask('/admin/status')).json as Record<string, unknown>
    await expect.poll(async () => (await status(seven)).held, soon).toEqual({ fixes: 2, devices: 1 })
    const own = await status(seven)
    expect(own).toMatchObject({ waiting: { fixes: 5, lanes: 2 }, parked: { fixes: 4, lanes: 2 } })
    expect(Object.keys(own).toSorted()).toEqual([
      'apis',
      'companies',
      'findings',
      'held',
      'links',
      'parked',
      'plain_verdict',
      'time_zone',
      'upstream',
      'vans',
      'verdict',
      'waiting',
    ])
    expect(Object.keys(own.upstream as object)).toEqual(['state', 'since_at', 'token_refused'])
    expect((own.links as object[]).map((link) => Object.keys(link))).toContainEqual(['link', 'state', 'findings'])
    const vansOf = async (ask: typeof seven) =>
      Object.values((await status(ask)).vans as Record<string, number>).reduce((sum, count) => sum + count)
    await expect.poll(() => Promise.all([vansOf(seven), vansOf(both), vansOf(all)]), soon).toEqual([3, 5, 5])
    expect(await status(both)).toMatchObject({ waiting: { fixes: 10 }, held: { fixes: 4, devices: 2 } })
    expect(await status(all)).toMatchObject({ waiting: { fixes: 10 }, held: { fixes: 5, devices: 3 }, custody: {} })
  })

  it('a token for company 7 sees only its own entries in each list', async () => {
    const lists = ['lanes', 'devices', 'routes', 'parked', 'roster', 'misunderstood', 'audit']
    const counts = await Promise.all(lists.map(async (list) => (await resultsOf(seven(`/admin/${list}`))).length))
    expect(Object.fromEntries(lists.map((list, index) => [list, counts[index]]))).toEqual({
      lanes: 3,
      devices: 3,
      routes: 2,
      parked: 2,
      roster: 1,
      misunderstood: 1,
      audit: 1,
    })
    expect(await resultsOf(seven('/admin/audit'))).toMatchObject([{ token: 'admin.tokens[0]', companies: ['7'] }])
  })

  it('a token for company 7 sees the audit entries of other tokens about its vans, whatever their query adds', async () => {
    const path = `/admin/devices/${VAN}/watch?company_id=8&device=other-1`
    expect((await all(path, { method: 'POST' })).status).toBe(200)
    const [latest] = await resultsOf(seven('/admin/audit'))
    expect(latest).toMatchObject({ path, companies: ['7'] })
    // The path of an entry has at most 256 characters.
    const hidden = `/admin/devices/${'0'.repeat(250)}${VAN}`
    expect((await all(`${hidden}/release`, { method: 'POST' })).status).toBe(404)
    for (const what of ['/data', '']) expect((await all(hidden + what, { method: 'DELETE' })).status).toBe(404)
    expect((await all(`/admin/devices/${VAN}`)).status).toBe(200)
  })

  it('a token for company 7 sees findings of its own vans in full, and those of the system in general words', async () => {
    const found = async (ask: typeof seven) =>
      (await resultsOf(ask('/admin/findings'))).filter(({ ended_at }) => !ended_at)
    const codes = async (ask: typeof seven) => (await found(ask)).map(({ code }) => code)
    await expect.poll(() => codes(all), soon).toEqual(expect.arrayContaining(['certificate_refused', 'not_stored']))
    const own = await found(seven)
    expect(own.filter(({ code }) => code === 'claimed_twice')).toMatchObject([
      { subject: { device: VAN, company_id: '7' }, evidence: [`two of ${VAN}`] },
    ])
    expect(own.filter(({ code }) => code === 'not_stored')).toMatchObject([
      { subject: {}, count: 1, evidence: [], message: 'frames are not acknowledged because they cannot be stored' },
    ])
    expect(own.map(({ code }) => code)).not.toContain('certificate_refused')
    const { verdict } = (await seven('/admin/status')).json as { verdict: string }
    expect(own.some(({ message }) => verdict.toLowerCase().startsWith((message as string).toLowerCase()))).toBe(true)
  })

  it.each([
    ['GET', ''],
    ['GET', '/chain'],
    ['GET', '/frames'],
    ['GET', '/history'],
    ['POST', '/watch'],
    ['DELETE', ''],
    ['DELETE', '/data'],
    ['POST', '/release'],
    ['POST', '/assign'],
    ['POST', '/unassign'],
  ])(
    'a token for company 7 gets the same answer for a device of company 8 as for none: %s /admin/devices/{id}%s',
    async (method, path) => {
      const answer = async (id: string) => {
        const body = path === '/assign' ? { route_id: '1' } : undefined
        const { status, text } = await seven(`/admin/devices/${id}${path}`, { method, body })
        return [status, text.replaceAll(id, 'ID')]
      }
      expect(await answer('zebra-1')).toEqual([404, expect.stringContaining('no device')])
      expect(await answer('zebra-1')).toEqual(await answer('nobody-1'))
    },
  )

  it('a token for company 7 can add an unconfigured id with its held fixes, but no id or name that is taken', async () => {
    const put = (id: string, name: string, company_id = 7) =>
      seven(`/admin/devices/${id}`, { method: 'PUT', body: { company_id, name } })
    await hold(admin.redis, 'unknown', 'new-1')
    expect(await seven('/admin/devices/new-1')).toMatchObject({ status: 404 })
    expect(await put('new-1', 'New')).toMatchObject({ status: 200, json: { company_id: '7', held: [{ fixes: 1 }] } })
    const taken = [409, 'this id or name is taken: nothing is changed']
    expect(await messageOf(put('zebra-1', 'Mine'))).toEqual(taken)
    expect(await messageOf(put('new-2', 'ZEBRA van'))).toEqual(taken)
    expect(await messageOf(put('zebra%20van', 'Mine'))).toEqual(taken)
    expect(await messageOf(put(VAN, 'Zebra Van'))).toEqual(taken)
    const unknown = async (id: number) => (await put('new-3', 'Mine', id)).text.replaceAll(String(id), 'ID')
    expect(await unknown(8)).toBe(await unknown(9))
    expect((await seven('/admin/devices/new-3')).status).toBe(404)
  })

  it('a token for company 7 can add an id that another company deleted, without the data stored for it', async () => {
    const { redis } = admin
    const id = 'zebra-9'
    const put = (ask: typeof seven, company_id: number) =>
      ask(`/admin/devices/${id}`, { method: 'PUT', body: { company_id, name: 'Nine', courier_id: 1 } })
    await put(all, 8)
    await heard(admin, id, '8/808081/808082')
    observations.note('claimed_twice', { subject: { device: id }, evidence: 'zebra at 52.50,13.40' })
    await addWatchedFrames(redis, new Map([[id, [JSON.stringify({ ...WATCHED, at: Date.now() })]]]))
    await keepFrame(redis, id, { company: '8', content: Buffer.from('{"id":"zebra-9"') })
    await keepFrame(redis, id, { company: undefined, content: Buffer.from('{"zebra":') })
    const holding = async () =>
      (await resultsOf(all(`/admin/findings?device=${id}`))).filter(({ ended_at }) => !ended_at)
    const bytes = Buffer.from(`*HQ,${id},V1#`).toString('hex')
    const sender = { at: Date.now(), address: '10.1.2.3:9', transport: 'tcp', port: 5023, evidence: [], bytes }
    await redis.lpush(keys.arrivals, JSON.stringify(sender))
    await expect.poll(holding, soon).toHaveLength(1)
    await expect.poll(async () => (await all(`/admin/devices/${id}`)).text, soon).toContain('10.1.2.3')
    await all(`/admin/devices/${id}`, { method: 'DELETE' })
    expect(await put(seven, 7)).toMatchObject({ status: 200 })

    const said = await Promise.all(
      ['', '/chain', '/frames', '/history'].map((part) => seven(`/admin/devices/${id}${part}`)),
    )
    said.push(await seven('/admin/devices?q=nine'), await seven('/admin/findings'), await seven('/admin/status'))
    const text = said.map((answer) => answer.text.replaceAll(id, 'ID')).join('\n')
    expect(said.map(({ status }) => status)).toEqual(said.map(() => 200))
    expect(/.{0,80}(?:zebra|10\.1\.2\.3|52\.5\b|808081).{0,80}/i.exec(text)?.[0]).toBeUndefined()
    expect(said[0].json).toMatchObject({ state: 'never', held: [], events: [] })

    await expect.poll(holding, soon).toEqual([])

    // New data belong to company 7, and stay so when company 8 gets the van back.
    await heard(admin, id, '7/1/1')
    await expect
      .poll(async () => (await seven(`/admin/devices/${id}`)).json, soon)
      .toMatchObject({
        last_fix: { lat: 52.5 },
        events: [{ event: 'routed' }, { event: 'connected' }],
      })
    await all(`/admin/devices/${id}`, { method: 'DELETE' })
    await put(all, 8)
    expect((await all(`/admin/devices/${id}`)).json).toMatchObject({ state: 'never', events: [] })
    await all(`/admin/devices/${id}`, { method: 'DELETE' })
    await all(`/admin/devices/${id}/data`, { method: 'DELETE' })
    expect(await redis.hexists(keys.roster('former'), id)).toBe(0)
  })

  it('a token for company 7 can put and swap routes only of its own vans', async () => {
    const put = (company: number, device: string) =>
      seven(`/admin/routes?company_id=${company}&from=2099-12-01&until=2099-12-02`, {
        method: 'PUT',
        body: `device,courier_id,route_id,from,until\n${device},1,1,2099-12-01 06:00,\n`,
        type: 'text/csv',
      })
    expect((await put(8, 'Zebra Van')).text).toBe((await put(9, 'Zebra Van')).text.replace('company 9', 'company 8'))
    expect((await put(7, 'Zebra Van')).text.replaceAll('Zebra', 'Nobody')).toBe((await put(7, 'Nobody Van')).text)
    expect(await put(7, 'Van 14')).toMatchObject({ status: 200, json: { added: 1, devices: 3 } })
    const swap = await seven(`/admin/devices/${VAN}/assign`, { method: 'POST', body: { like: 'Zebra Two' } })
    expect(swap).toMatchObject({ status: 422, text: expect.stringContaining('no device has the id or the name') })
    const undo = (id: string) => seven(`/admin/roster/undo?put=${id}`, { method: 'POST' })
    expect((await undo(puts.put8)).text).toBe((await undo('1')).text.replace('put 1 ', `put ${puts.put8} `))
    expect(await undo(puts.put7)).toMatchObject({ status: 409 })
  })

  it('a token for company 7 retries, deletes and forgets only data of its company, even if a van changed company', async () => {
    const { redis } = admin
    const zebras = () => Promise.all(['8/808081/808082', '8/808081/808084'].map((lane) => redis.llen(keys.lane(lane))))
    expect((await seven('/admin/parked/retry?all=true', { method: 'POST' })).json).toEqual({ retried: 4 })
    expect((await seven('/admin/parked?courier_id=808081', { method: 'DELETE' })).json).toEqual({ deleted: 0 })
    expect((await seven('/admin/misunderstood?all=true', { method: 'DELETE' })).json).toEqual({ deleted: 1 })
    expect(await resultsOf(all('/admin/misunderstood'))).toMatchObject([{ device: 'zebra-1' }])
    await all('/admin/devices/zebra-1', { method: 'PUT', body: { company_id: 7, name: 'Van 17' } })
    expect(await zebras()).toEqual([3, 3])
    const { events } = (await seven('/admin/devices/zebra-1')).json as { events: { event: string }[] }
    expect(events).toEqual([])
    expect((await seven('/admin/devices/zebra-1/data', { method: 'DELETE' })).json).toMatchObject({
      waiting: 0,
      parked: 0,
      held: 2,
    })
    expect(await zebras()).toEqual([3, 3])
  })

  it('a token for company 7 uses the relay only for its company, and sees only its own refused OAuth token', async () => {
    asked.length = 0
    expect((await seven(numbers(8))).text).toBe((await seven(numbers(9))).text.replace('company 9', 'company 8'))
    expect(asked).toEqual([])
    expect((await seven(numbers(7))).status).toBe(401)
    await both(numbers(8))
    expect(asked).toEqual([numbers(7), numbers(8)])
    const refused = async (ask: typeof seven) =>
      ((await ask('/admin/status')).json as { upstream: { token_refused: string[] } }).upstream.token_refused
    expect(await Promise.all([seven, both].map(refused))).toEqual([['7'], ['7', '8']])
  })

  it('a token with companies is refused what belongs to no company, even if it names every company', async () => {
    for (const ask of [seven, both])
      for (const path of ['/admin/arrivals', '/admin/enrolment'])
        expect(await messageOf(ask(path))).toEqual([
          403,
          `this token is for some companies: GET ${path} needs one for all`,
        ])
    const { json, text } = await seven('/openapi.json')
    const { description } = (json as { info: { description: string } }).info
    expect(description).toContain(
      'need a token for all companies: GET /admin/copies/parked, POST /admin/copies/retry, DELETE /admin/copies/parked, GET /admin/enrolment',
    )
    expect(text.split('Of the whole system: absent for a token with companies.').length - 1).toBe(17)
  })

  it('a token for company 7 with the role read cannot change anything', async () => {
    const read = askAs(admin, 'canary-read-7')
    expect(await read('/admin/devices')).toMatchObject({ status: 200 })
    expect(await read(`/admin/devices/${VAN}`, { method: 'DELETE' })).toMatchObject({ status: 403 })
  })

  it('a token for company 7 cannot read the metrics, which have a token of their own', async () => {
    expect((await seven('/metrics')).status).toBe(401)
    expect((await all('/metrics')).status).toBe(200)
  })

  it('a token for company 7 resumes the events of its company without those of others', async () => {
    const first = await follow(TOKEN_7)
    await expect.poll(() => first.events('status').length, soon).toBeGreaterThan(0)
    first.close()
    await Promise.all([giveName('zebra-2', 8), giveName('van%2F15', 7)])
    const again = await follow(TOKEN_7, { 'last-event-id': first.lastId() })
    await expect.poll(() => JSON.stringify(again.events('device')), soon).toContain('van/15')
    await expect.poll(() => again.events('audit').length, soon).toBeGreaterThan(0)
    expect(again.text()).not.toContain('zebra')
  })

  it('a token for company 7 lets the command line show only the vans of company 7', async () => {
    const env = { WAYBRIDGE_ADMIN_URL: admin.url, WAYBRIDGE_ADMIN_TOKEN: TOKEN_7 }
    const { out } = await waybridge(['status'], { env })
    expect(out).toMatch(/waiting +5 /)
    expect(out).not.toContain('received')
    expect((await waybridge(['why', 'Van 14'], { env })).out).toContain('Van 14')
    expect(await waybridge(['why', 'Zebra Van'], { env })).toMatchObject({ code: 1 })
  })
})

it('a change of the companies of a token takes effect without a restart, and ends only its event streams', async () => {
  const [own, other] = await Promise.all([follow(TOKEN_7), follow('canary-both')])
  const file = join(admin.dir, 'gateway.yaml')
  const yaml = await readFile(file, 'utf8')
  const write = async (text: string) => {
    await writeFile(`${file}.new`, text)
    await rename(`${file}.new`, file)
  }
  await write(yaml.replace('name: seven, companies: [7]', 'name: seven, companies: [8]'))
  onTestFinished(() => write(yaml))
  await expect.poll(async () => (await seven('/admin/devices/zebra-1')).status, soon).toBe(200)
  expect((await seven(`/admin/devices/${VAN}`)).status).toBe(404)
  await expect.poll(() => own.isEnded, soon).toBe(true)
  expect(other.isEnded).toBe(false)
  await write(yaml)
  await expect.poll(async () => (await seven('/admin/devices/zebra-1')).status, soon).toBe(404)
})

it('a token for company 7 does not delete a device that another company gets while the deletion waits for its turn', async () => {
  await admin.redis.client('PAUSE', 1500, 'WRITE')
  const given = giveName(VAN, 8)
  await seven('/admin/token')
  expect((await seven(`/admin/devices/${VAN}`, { method: 'DELETE' })).status).toBe(404)
  expect((await given).status).toBe(200)
  expect((await all(`/admin/devices/${VAN}`)).json).toMatchObject({ configured: true, company_id: '8' })
})
