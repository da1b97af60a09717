import type { OutgoingHttpHeaders } from 'node:http'
import { describe, expect, it } from 'vitest'
import { type ApiAnswer, retryAfterMs } from '../../src/tracking/exchange.ts'
import { client, httpServer, OK, PUSH, rawServer } from '../support/tracking/http-servers.ts'

/** What time it is there. */
const date = expect.stringMatching(/ GMT$/)

describe('an answer', () => {
  it.each([
    ['with its message', '{"message":"no such route","errors":[]}', 'no such route'],
    ['with its body where the message is no text', '{"message":1}', '{"message":1}'],
    ['with its body where it has no message', '{"error":"x"}', '{"error":"x"}'],
    ['with its body where it is no JSON', '{oops', '{oops'],
    ['with its body where it is HTML', '<h1>Bad Gateway</h1>', '<h1>Bad Gateway</h1>'],
    ['without a body', '', ''],
    ['without the apikey that it quotes', 'Cannot POST /x?apikey=CANARY, CANARY', 'Cannot POST /x?apikey=***, ***'],
    ['of at most 2 KiB', 'x'.repeat(5_000), 'x'.repeat(2_048)],
    ['of at most 2 KiB of a message', JSON.stringify({ message: 'x'.repeat(5_000) }), 'x'.repeat(2_048)],
    ['of at most 2 KiB, without half a character', `x${'é'.repeat(2_000)}`, `x${'é'.repeat(1_023)}`],
  ])('gives an error answer %s as its text', async (_, body, text) => {
    expect(await answering(404, body)).toEqual({ status: 404, text, date })
  })

  it('masks an apikey that the answer quotes percent-encoded', async () => {
    const url = await httpServer((request, response) => {
      request.resume()
      response.writeHead(500).end(request.url)
    })
    const answer = await client(url).push({ ...PUSH, apikey: 'CAN/ARY' })
    expect(answer).toMatchObject({ status: 500, text: expect.stringMatching(/\?apikey=\*\*\*$/) })
  })

  it.each([301, 302, 307, 308])('gives a %d as the answer and follows no redirect', async (status) => {
    expect(await answering(status, 'moved', { location: '/elsewhere' })).toEqual({ status, text: 'moved', date })
  })

  it.each([429, 503])('reads the Retry-After of a %d', async (status) => {
    expect(await answering(status, '', { 'retry-after': '120' })).toEqual({
      status,
      text: '',
      date,
      retryAfterMs: 120_000,
    })
  })

  it('cuts an endless answer and closes its connection', async () => {
    const closed = Promise.withResolvers<void>()
    const url = await httpServer((request, response) => {
      request.resume()
      response.on('close', () => closed.resolve()).writeHead(422)
      const write = (): boolean => response.write('x'.repeat(10_000)) && write()
      response.on('drain', write)
      write()
    })
    expect(await client(url).push(PUSH)).toEqual({ status: 422, text: 'x'.repeat(2_048), date })
    await closed.promise
  })

  it('skips 103 Early Hints and gives the final answer', async () => {
    const url = await rawServer((socket) => socket.write(`HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${OK}`))
    expect(await client(url).push(PUSH)).toEqual({ status: 200, text: '' })
  })
})

describe('Retry-After', () => {
  const now = Date.parse('2026-11-20T10:00:00Z')
  it.each([
    ['0', 0],
    ['3600', 3_600_000],
    ['Fri, 20 Nov 2026 10:01:30 GMT', 90_000],
    ['Fri, 20 Nov 2026 09:00:00 GMT', 0],
    ['-5', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['9'.repeat(30), undefined],
    ['', undefined],
  ])('reads Retry-After %s as %s ms', (header, ms) => {
    expect(retryAfterMs(header, now)).toBe(ms)
  })
})

/** The answer to a push to a server that always answers this. */
async function answering(status: number, body: string, headers: OutgoingHttpHeaders = {}): Promise<ApiAnswer> {
  const url = await httpServer((request, response) => {
    request.resume()
    response.writeHead(status, headers).end(body)
  })
  return client(url).push(PUSH)
}
