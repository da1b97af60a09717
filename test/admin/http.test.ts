import { expect, it } from 'vitest'
import { relayFixture } from '../support/relay.ts'
import { raw } from '../support/tracking/raw.ts'

const relay = relayFixture([])

it.each([
  ['bytes that are not HTTP', '?\r\n\r\n', 400, 'this is not HTTP/1.1: Invalid method encountered'],
  [
    'headers that are too long',
    `GET /admin/status HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`,
    431,
    'the URL and the headers are too long: together they may have 16 KiB',
  ],
])('the admin port answers %s like the tracking service, and does not log it', async (_, bytes, status, message) => {
  expect(await raw(relay.port, bytes)).toEqual({ status, message, type: 'application/json; charset=utf-8' })
  // After ten seconds the log says that no gateway and no worker run.
  expect(relay.log.filter((line) => !line.includes('"reason":"no_'))).toEqual([])
})
