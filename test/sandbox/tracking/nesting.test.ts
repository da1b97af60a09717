import { expect, it } from 'vitest'
import { startCompany } from '../../support/tracking/company.ts'
import { JSON_TYPE, LANE, path, position } from '../../support/tracking/push.ts'

const { service } = await startCompany()

it.each([
  ['reads a large body with a million levels', '['.repeat(1_000_000) + ']'.repeat(1_000_000), 200],
  ['refuses a large body of brackets that never end', '['.repeat(4_000_000), 422],
])('%s', async (_, json, status) => {
  const body = `{"a":${json},${JSON.stringify({ positions: [position({})] }).slice(1)}`
  expect((await service.send(path(LANE), { method: 'POST', headers: JSON_TYPE, body })).status).toBe(status)
})
