import { describe, expect, it } from 'vitest'
import { networksOf } from '../../../src/domain/networks.ts'
import { senderOf } from '../../../src/gateway/admit/forwarded.ts'

const TRUSTED = networksOf(['10.0.0.0/8', '2001:db8:1::/48'])
const PROXY = '10.0.0.1'

describe('the sender of a request', () => {
  it.each([
    ['without headers, is the peer', PROXY, {}, PROXY],
    ['is the address that a trusted proxy adds', PROXY, { 'x-forwarded-for': '203.0.113.7' }, '203.0.113.7'],
    ['is not what another peer says', '192.0.2.1', { 'x-forwarded-for': '203.0.113.7' }, '192.0.2.1'],
    ['is not what another peer says in Forwarded', '192.0.2.1', { forwarded: 'for=203.0.113.7' }, '192.0.2.1'],
    [
      'is the rightmost that is no trusted proxy, whatever the client wrote before',
      PROXY,
      { 'x-forwarded-for': '8.8.8.8, 203.0.113.7, 10.1.1.1' },
      '203.0.113.7',
    ],
    ['is the first of all, where all are trusted', PROXY, { 'x-forwarded-for': '10.2.2.2, 10.1.1.1' }, '10.2.2.2'],
    ['is the proxy where it hides the client', PROXY, { 'x-forwarded-for': '8.8.8.8, unknown' }, PROXY],
    ['is the last proxy before something else', PROXY, { 'x-forwarded-for': '8.8.8.8, x, 10.1.1.1' }, '10.1.1.1'],
    ['has no port', PROXY, { 'x-forwarded-for': '203.0.113.7:4711' }, '203.0.113.7'],
    ['is an IPv6 address', PROXY, { 'x-forwarded-for': '2001:db8::7' }, '2001:db8::7'],
    ['is an IPv6 address in brackets', PROXY, { 'x-forwarded-for': '[2001:db8::7]:4711' }, '2001:db8::7'],
    ['has no zone', PROXY, { 'x-forwarded-for': 'fe80::1%eth0' }, PROXY],
    ['is in Forwarded', PROXY, { forwarded: 'for=192.0.2.60;proto=http;by=10.0.0.1' }, '192.0.2.60'],
    ['is in Forwarded, in any case', PROXY, { forwarded: 'proto=https; For="192.0.2.60:8"' }, '192.0.2.60'],
    ['is in Forwarded over IPv6', PROXY, { forwarded: 'for="[2001:db8:cafe::17]:4711"' }, '2001:db8:cafe::17'],
    ['is the rightmost in Forwarded', PROXY, { forwarded: 'for=8.8.8.8, for=192.0.2.60' }, '192.0.2.60'],
    ['is hidden in Forwarded', PROXY, { forwarded: 'for=8.8.8.8, for=_hidden' }, PROXY],
    ['is the proxy where Forwarded does not say', PROXY, { forwarded: 'for=8.8.8.8, proto=http' }, PROXY],
    [
      'is in both headers',
      PROXY,
      { forwarded: 'for=192.0.2.60', 'x-forwarded-for': '8.8.8.8, 192.0.2.60' },
      '192.0.2.60',
    ],
    [
      'is in no network if the headers differ: one is the client’s own',
      PROXY,
      { forwarded: 'for=192.0.2.60', 'x-forwarded-for': '8.8.8.8' },
      'unknown',
    ],
    ['is an empty header’s proxy', PROXY, { 'x-forwarded-for': '' }, PROXY],
    ['comes through a proxy with IPv6', '2001:db8:1::1', { 'x-forwarded-for': '203.0.113.7' }, '203.0.113.7'],
    ['comes to a socket for both families', '::ffff:10.0.0.1', { 'x-forwarded-for': '203.0.113.7' }, '203.0.113.7'],
  ])('%s', (_, peer, headers, sender) => expect(senderOf(peer, headers, TRUSTED)).toBe(sender))
})
