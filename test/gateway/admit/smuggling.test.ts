import { expect, it } from 'vitest'
import { networksOf } from '../../../src/domain/networks.ts'
import { listenHttp } from '../../../src/gateway/wire/http.ts'
import { dial, gateway, open, talk, until } from '../../support/listen.ts'

/** What an attacker behind a proxy hides in a request of his own, so that it counts as the next one on the proxy's connection. */
const HIDDEN = 'GET /fixof%207 HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.9\r\n\r\n'
const NEXT = 'GET /fixof%20van-1 HTTP/1.1\r\nHost: x\r\n\r\n'
const CHUNK = `${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n`
const LENGTH = `Content-Length: ${HIDDEN.length}`

it.each([
  ['a body', `POST / HTTP/1.1\r\nHost: x\r\n${LENGTH}\r\n\r\n${HIDDEN}`],
  ['a body in chunks', `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNK}`],
  ['a body of a GET', `GET / HTTP/1.1\r\nHost: x\r\n${LENGTH}\r\n\r\n${HIDDEN}`],
  ['a body that is announced', `POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n${LENGTH}\r\n\r\n${HIDDEN}`],
  ['an encoded body', `POST / HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\n${LENGTH}\r\n\r\n${HIDDEN}`],
  [
    'a length and chunks',
    `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${HIDDEN}`,
  ],
  [
    'chunks and a length',
    `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${HIDDEN}`,
  ],
  [
    'chunks that are not the last encoding',
    `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, x\r\n\r\n0\r\n\r\n${HIDDEN}`,
  ],
  [
    'a header with a blank before its colon',
    `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n${LENGTH}\r\n\r\n${HIDDEN}`,
  ],
  ['two lengths', `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n${LENGTH}\r\n\r\n${HIDDEN}`],
  ['a length with a sign', `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +0\r\n\r\n${HIDDEN}`],
  [
    'a chunk of an endless length',
    `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\n${HIDDEN}`,
  ],
  ['a body above the maximum', `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 999999\r\n\r\n${HIDDEN.repeat(100)}`],
  ['a tunnel', `CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n${HIDDEN}`],
])('a gateway takes no request that is hidden in %s', async (_, request) => {
  const shared = gateway({ limits: { identify_timeout: 1000 } })
  const behindProxy = { ...shared, trustedProxies: networksOf(['127.0.0.0/8']) }
  const { port } = await open(listenHttp({ host: '127.0.0.1', port: 0, protocol: talk }, behindProxy))
  const peer = await dial(port)
  peer.say(request + NEXT)
  await until(() => expect(peer.over || shared.places.length > 0).toBe(true))
  expect(shared.places.filter((place) => place !== '7/42/1001')).toEqual([])
})
