import { expect } from 'vitest'
import { Conversation } from '../../src/gateway/conversation.ts'
import { HeardBook } from '../../src/gateway/heard.ts'
import { observations } from '../../src/observe/observations.ts'
import { type AdminFixture, type Answer, adminFixture, hold, refuse, store, TOKEN, workerOf } from './admin.ts'
import { keepFrame } from './kept-frames.ts'

/** Whatever company 8 has contains this, and nothing else does. */
export const CANARY = /zebra|\b80808\d\b/i

/** A token for company 7 alone. */
export const TOKEN_7 = 'canary-of-company-7'

/** The usual company 7 beside a company 8, and tokens for everything (the usual one), and for one or both companies. */
export function twoCompanies({ baseUrl }: { readonly baseUrl?: string } = {}): AdminFixture {
  return adminFixture({
    baseUrl,
    companies: ', { company_id: 8, name: zebra, apikey: zebra-apikey, oauth_token: zebra-oauth }',
    devices: `
zebra-1: { name: Zebra Van, company_id: 8, courier_id: 808081, route_id: 808082 }
zebra-2: { name: Zebra Two, company_id: 8, courier_id: 808081 }
`,
    routes: 'Zebra Two,,808083,2020-01-01 00:00,2120-01-01 00:00\n',
    gateway: `admin:
  port: 0
  metrics_token: canary-metrics
  tokens:
    - ${TOKEN}
    - { token: ${TOKEN_7}, name: seven, companies: [7] }
    - { token: canary-read-7, role: read, companies: [7] }
    - { token: canary-both, name: both, companies: [7, 8] }
`,
  })
}

/** Asks with a token; `body`: sent as JSON. */
export function askAs(admin: AdminFixture, token: string) {
  return (path: string, { method = 'GET', body, type = 'application/json' }: AskOptions = {}): Promise<Answer> =>
    admin.ask(path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': type }) },
      body: body === undefined || typeof body === 'string' ? (body as string) : JSON.stringify(body),
    })
}

interface AskOptions {
  readonly method?: string
  readonly body?: unknown
  readonly type?: string
}

const WEEK = 'from=2099-11-20&until=2099-11-27'

/** Something of everything of a company, and what belongs to none. Returns the ids of both companies' last puts. */
export async function fillBoth(admin: AdminFixture): Promise<{ readonly put7: string; readonly put8: string }> {
  const { redis } = admin
  const ask = askAs(admin, TOKEN)
  const { leases, lease } = workerOf(redis)
  const put = async (company: number, lines: string) => {
    const options = { method: 'PUT', body: `device,route_id,from,until\n${lines}`, type: 'text/csv' }
    const { json, text } = await ask(`/admin/routes?company_id=${company}&${WEEK}`, options)
    return (json as { put?: string }).put ?? expect.unreachable(text)
  }
  for (const [company, courier, routes, device] of [
    ['7', '42', ['1001', '1002', '1003'], '356307042441014'],
    ['8', '808081', ['808082', '808083', '808084'], 'zebra-1'],
  ] as const) {
    const lanes = routes.map((route) => `${company}/${courier}/${route}`)
    for (const lane of lanes) await store(redis, lane, { count: 3, device })
    await refuse(redis, lanes[1], 1, { status: 422, message: `no, says ${device}` })
    await leases.park(await lease(lanes[2]), { status: 404, message: `no route, says ${device}` })
    await hold(redis, 'no_route', device, { count: 2 })
    await keepFrame(redis, device, { company, content: Buffer.from(`{"id":"${device}"`) })
    await heard(admin, device, lanes[0])
    observations.note('claimed_twice', { subject: { device }, evidence: `two of ${device}` })
  }
  await hold(redis, 'unknown', 'zebra-stranger')
  observations.note('not_stored', { evidence: 'redis: zebra' })
  observations.note('certificate_refused', { subject: { listener: 'zebra' }, evidence: 'zebra.pem' })
  const put7 = await put(7, 'Van 12,1005,2099-11-21 06:00,\nzbra-1,1006,2099-11-21 06:00,\n')
  const put8 = await put(8, 'Zebra Van,808085,2099-11-21 06:00,\nZebra 99,808086,2099-11-21 06:00,\n')
  await ask('/admin/devices/zebra-1/watch', { method: 'POST' })
  return { put7, put8 }
}

const FIX = { time: Date.UTC(2026, 10, 20, 8), latitude: 52.5, longitude: 13.4, valid: true, speed: 10, heading: 90 }

/** A device says on a connection where it is. */
export async function heard({ redis }: AdminFixture, device: string, lane: string): Promise<void> {
  const book = new HeardBook(redis)
  const session = Object.assign(new Conversation('tcp', '10.1.2.3:40001'), { device })
  book.of(device).spoke(session, 'teltonika')
  book.of(device).stored({ fix: { at: session.now, fix: FIX } })
  book.of(device).became('routed', lane)
  await book.close()
}
