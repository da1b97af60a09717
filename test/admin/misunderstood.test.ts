import { expect, it } from 'vitest'
import { createMisunderstood } from '../../src/ingest/misunderstood.ts'
import { adminFixture } from '../support/admin.ts'

const admin = adminFixture()

it('GET /admin/misunderstood lists the payloads that were not understood, latest first', async () => {
  const book = createMisunderstood(admin.redis)
  const about = { device: 'van-1', protocol: 'fix', reason: 'malformed' }
  book.keep({ ...about, at: Date.UTC(2026, 10, 20, 8), payload: Buffer.from('{"lat":') })
  book.keep({ ...about, at: Date.UTC(2026, 10, 20, 9), payload: Buffer.from([0, 255]) })
  await book.close()
  expect((await admin.ask('/admin/misunderstood')).json).toEqual({
    results: [
      { at: '2026-11-20T09:00:00.000Z', ...about, bytes: 2, hex: '00ff' },
      { at: '2026-11-20T08:00:00.000Z', ...about, bytes: 7, text: '{"lat":' },
    ],
  })
  const { json } = await admin.ask('/admin/misunderstood?max_results=1')
  expect((json as { results: unknown[] }).results).toHaveLength(1)
})
