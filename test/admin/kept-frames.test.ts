import { expect, it } from 'vitest'
import { readFrames } from '../../src/store/index.ts'
import { adminFixture, READ_TOKEN } from '../support/admin.ts'
import { keepFrame } from '../support/kept-frames.ts'

const admin = adminFixture()
const at = (hour: number) => Date.UTC(2026, 10, 20, hour)

interface Listed {
  readonly results: { readonly device: string; readonly id: string }[]
  readonly next_page_token?: string
}

async function list(query = ''): Promise<Listed> {
  return (await admin.ask(`/admin/misunderstood${query}`)).json as Listed
}

const remove = (query: string, token?: string) => {
  const headers = token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }
  return admin.ask(`/admin/misunderstood${query}`, { method: 'DELETE', ...headers })
}

it('GET /admin/misunderstood lists the frames that were not understood, latest first, with what was read of them', async () => {
  const { redis } = admin
  const damaged = { kind: 'unknown', reason: 'malformed', error: 'the frame is malformed' } as const
  await keepFrame(redis, 'van-1', { at: at(8), ...damaged })
  const fixes = [[1_790_000_000_000, 52.5, 13.4]] as const
  const content = Buffer.from([0x78, 0x78, 0xff])
  const read = { protocol: 'gt06', transport: 'tcp', reason: 'entries', fixes, unreadable: [1] } as const
  await keepFrame(redis, 'van-1', { at: at(9), content, opening: ['xx', '\xff'], ...read })
  const request = { method: 'GET', uri: '/?id=van-1', headers: {}, body: Buffer.alloc(0) }
  await keepFrame(redis, 'van-2', {
    at: at(10),
    company: undefined,
    content: request,
    protocol: 'osmand',
    transport: 'http',
  })
  expect(await list()).toEqual({
    results: [
      {
        id: expect.stringMatching(/-van-2$/),
        at: '2026-11-20T10:00:00.000Z',
        device: 'van-2',
        protocol: 'osmand',
        transport: 'http',
        reason: 'not_read',
        method: 'GET',
        uri: '/?id=van-1',
        bytes: 0,
        text: '',
        read: { fixes: 0, unreadable: [] },
        opening: 0,
      },
      {
        id: expect.stringMatching(/-van-1$/),
        at: '2026-11-20T09:00:00.000Z',
        device: 'van-1',
        company_id: '7',
        protocol: 'gt06',
        transport: 'tcp',
        reason: 'entries',
        bytes: 3,
        hex: '7878ff',
        read: { fixes: 1, unreadable: [1] },
        opening: 2,
      },
      {
        id: expect.stringMatching(/-van-1$/),
        at: '2026-11-20T08:00:00.000Z',
        device: 'van-1',
        company_id: '7',
        protocol: 'fix',
        transport: 'mqtt',
        reason: 'malformed',
        error: 'the frame is malformed',
        bytes: 7,
        text: '{"lat":',
        read: { fixes: 0, unreadable: [] },
        opening: 0,
      },
    ],
  })
})

it('GET /admin/misunderstood has pages, and lists the frames of one device with or without leading zeros', async () => {
  for (const [index, device] of ['0356307042441013', '9', '0356307042441013'].entries())
    await keepFrame(admin.redis, device, { at: at(index) })
  const first = await list('?max_results=2')
  expect(first.results.map(({ device }) => device)).toEqual(['0356307042441013', '9'])
  const { results, next_page_token } = await list(`?max_results=2&page_token=${first.next_page_token}`)
  expect([results.length, next_page_token]).toEqual([1, undefined])
  expect((await list('?device=356307042441013')).results).toHaveLength(2)
  expect((await admin.ask('/admin/misunderstood?page_token=x')).status).toBe(400)
})

it('GET /admin/misunderstood shows whole frames on request, at most 50 on a page', async () => {
  const fixes = [[1_790_000_000_000, 52.5, 13.4]] as const
  const content = Buffer.from('x'.repeat(5000))
  for (let hour = 0; hour < 51; hour++)
    await keepFrame(admin.redis, '1', { at: at(hour), content, fixes, opening: ['xx'] })
  const { results, next_page_token } = await list('?content=true&max_results=1000')
  expect([results.length, typeof next_page_token]).toEqual([50, 'string'])
  const body = content.toString('base64')
  const whole = {
    body,
    opening: [Buffer.from('xx').toString('base64')],
    others: [],
    places: [{ lat: 52.5, lon: 13.4 }],
  }
  expect(results[0]).toMatchObject({ content: whole })
})

it('GET /admin/misunderstood shows the beginning and the length of a long frame', async () => {
  await keepFrame(admin.redis, '1', { content: Buffer.from('x'.repeat(5000)) })
  expect((await list()).results[0]).toMatchObject({ bytes: 5000, text: 'x'.repeat(1024) })
})

it('DELETE /admin/misunderstood deletes the frames of one device, or all, and says how many', async () => {
  for (const [index, device] of ['1', '1', '2', '3'].entries()) await keepFrame(admin.redis, device, { at: at(index) })
  expect((await remove('?device=1')).json).toEqual({ deleted: 2 })
  expect((await list()).results.map(({ device }) => device)).toEqual(['3', '2'])
  expect((await remove('?all=true')).json).toEqual({ deleted: 2 })
  expect(await readFrames(admin.redis, { count: 10 })).toEqual([])
  const { results } = (await admin.ask('/admin/audit?max_results=1')).json as { results: object[] }
  expect(results[0]).toMatchObject({ operation: '/admin/misunderstood', summary: { deleted: 2 } })
})

it('DELETE /admin/misunderstood requires a device or all, and a token that may change things', async () => {
  expect((await remove('')).status).toBe(422)
  expect((await remove('?all=true', READ_TOKEN)).status).toBe(403)
})
