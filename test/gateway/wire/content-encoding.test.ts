import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { Detector } from '../../../src/gateway/wire/detect.ts'
import { listenHttp } from '../../../src/gateway/wire/http.ts'
import { type Gateway, gateway, open, refusals, talk, until } from '../../support/listen.ts'
import { thrown } from '../../support/thrown.ts'

const FIX = Buffer.from('fixof van-1')
const MOST = 4096

async function listening(shared: Gateway = gateway()) {
  const { port } = await open(listenHttp({ host: '127.0.0.1', port: 0, protocol: talk }, shared))
  return async (body: Buffer | undefined, encoding: string, path = '') => {
    const headers = { 'content-encoding': encoding }
    const method = body ? 'POST' : 'GET'
    const answer = await fetch(`http://127.0.0.1:${port}/${path}`, {
      method,
      headers,
      body: body && new Uint8Array(body),
    })
    return { status: answer.status, text: await answer.text(), accepts: answer.headers.get('accept-encoding') }
  }
}

it.each([
  ['a gzip body', 'gzip', gzipSync(FIX)],
  ['a gzip body', 'GZIP', gzipSync(FIX)],
  ['a gzip body', 'x-gzip', gzipSync(FIX)],
  ['a zlib body', 'deflate', deflateSync(FIX)],
  ['a raw deflate body', 'deflate', deflateRawSync(FIX)],
  ['a plain body', 'identity', FIX],
  ['a plain body', '', FIX],
])('reads %s with Content-Encoding "%s"', async (_, encoding, body) => {
  const shared = gateway()
  expect(await (await listening(shared))(body, encoding)).toMatchObject({ status: 200, text: 'ok\n' })
  expect(shared.places).toEqual(['7/42/1001'])
})

it('accepts an empty body with Content-Encoding gzip', async () => {
  expect(await (await listening())(undefined, 'gzip', 'fixof%20van-1')).toMatchObject({ status: 200 })
})

it.each(['br', 'zstd', 'compress', 'gzip, gzip', 'gzip, deflate', 'nonsense'])(
  'answers 415 with the supported encodings to Content-Encoding "%s"',
  async (encoding) => {
    const refused = await refusals('content_encoding')
    const shared = gateway()
    expect(await (await listening(shared))(gzipSync(FIX), encoding)).toEqual({
      status: 415,
      text: 'Content-Encoding may be one of gzip, deflate.\n',
      accepts: 'gzip, deflate',
    })
    expect([await refused(), shared.tries]).toEqual([1, 0])
  },
)

it.each([
  ['a plain body', 'gzip', FIX],
  ['a body that is cut off', 'gzip', gzipSync(FIX).subarray(0, -9)],
  ['a damaged body', 'gzip', damaged(gzipSync(FIX))],
  ['a damaged body', 'deflate', damaged(deflateSync(FIX))],
  ['a body of one byte', 'deflate', Buffer.from([0x78])],
])('answers 400 to %s with Content-Encoding "%s"', async (_, encoding, body) => {
  const refused = await refusals('damaged_body')
  const { status, text } = await (await listening())(body, encoding)
  expect([status, text]).toEqual([400, 'The body of the request is not what its Content-Encoding says.\n'])
  expect(await refused()).toBe(1)
})

it.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
])('limits an unpacked body to limits.max_frame_bytes (%s)', async (encoding, pack) => {
  const refused = await refusals('frame_too_long')
  const send = await listening()
  const padded = (length: number) => pack(Buffer.concat([FIX, Buffer.alloc(length - FIX.length, ' ')]))
  expect(await send(padded(MOST), encoding)).toMatchObject({ status: 200 })
  expect(await send(padded(MOST + 1), encoding)).toMatchObject({ status: 413 })
  expect(await refused()).toBe(1)
})

it('refuses a body that unpacks to a thousand times its size, and serves vans meanwhile', async () => {
  const send = await listening()
  const bomb = gzipSync(Buffer.alloc(2 << 20))
  expect(bomb.length).toBeLessThan(MOST)
  const bombs = Array.from({ length: 50 }, () => send(bomb, 'gzip'))
  expect(await send(gzipSync(FIX), 'gzip')).toMatchObject({ status: 200 })
  for (const { status } of await Promise.all(bombs)) expect(status).toBe(413)
})

it('keeps the unpacked body of a request that is not understood', async () => {
  const shared = gateway()
  await (await listening(shared))(gzipSync('by van-1 odd'), 'gzip')
  await until(() => expect(shared.frames).toHaveLength(1))
  expect(Buffer.from(shared.frames[0].request?.body ?? '', 'base64').toString()).toBe('by van-1 odd')
})

it('looks for the protocol of a request in its unpacked body', async () => {
  const other = { ...talk, name: 'other' }
  const detector = new Detector({ protocols: [other], configured: () => undefined, onFault: thrown })
  const shared = gateway({ detector })
  expect(await (await listening(shared))(gzipSync('nonsense'), 'gzip')).toMatchObject({ status: 400 })
  expect(shared.notUnderstood.map(({ bytes }) => bytes.toString())).toEqual(['POST /\nnonsense'])
})

/** With a bit of its content turned over. */
function damaged(body: Buffer): Buffer {
  const bytes = Buffer.from(body)
  bytes[bytes.length - 6] ^= 0x40
  return bytes
}
