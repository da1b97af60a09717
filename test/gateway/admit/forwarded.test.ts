import { expect, it } from 'vitest'
import { networksOf } from '../../../src/domain/networks.ts'
import { senderOf } from '../../../src/gateway/admit/forwarded.ts'

const TRUSTED = networksOf(['10.0.0.0/8', '2001:db8:1::/48'])
const PROXY = '10.0.0.1'

it.each([
  ['uses the peer address if the request has no forwarding header', PROXY, {}, PROXY],
  ['uses the address that a trusted proxy adds', PROXY, { 'x-forwarded-for': '203.0.113.7' }, '203.0.113.7'],
  ['ignores X-Forwarded-For from an untrusted peer', '192.0.2.1', { 'x-forwarded-for': '203.0.113.7' }, '192.0.2.1'],
  ['ignores Forwarded from an untrusted peer', '192.0.2.1', { forwarded: 'for=203.0.113.7' }, '192.0.2.1'],
  [
    'uses the rightmost address that is no trusted proxy, whatever the client wrote before it',
    PROXY,
    { 'x-forwarded-for': '8.8.8.8, 203.0.113.7, 10.1.1.1' },
    '203.0.113.7',
  ],
  [
    'uses the first forwarded address if all are trusted proxies',
    PROXY,
    { 'x-forwarded-for': '10.2.2.2, 10.1.1.1' },
    '10.2.2.2',
  ],
  ['uses the proxy address if the proxy hides the client', PROXY, { 'x-forwarded-for': '8.8.8.8, unknown' }, PROXY],
  [
    'uses the last proxy behind an entry that is no address',
    PROXY,
    { 'x-forwarded-for': '8.8.8.8, x, 10.1.1.1' },
    '10.1.1.1',
  ],
  ['removes the port from a forwarded address', PROXY, { 'x-forwarded-for': '203.0.113.7:4711' }, '203.0.113.7'],
  ['reads an IPv6 address in X-Forwarded-For', PROXY, { 'x-forwarded-for': '2001:db8::7' }, '2001:db8::7'],
  ['reads an IPv6 address in brackets with a port', PROXY, { 'x-forwarded-for': '[2001:db8::7]:4711' }, '2001:db8::7'],
  [
    'uses the proxy address instead of a forwarded address with a zone',
    PROXY,
    { 'x-forwarded-for': 'fe80::1%eth0' },
    PROXY,
  ],
  ['reads the address in Forwarded', PROXY, { forwarded: 'for=192.0.2.60;proto=http;by=10.0.0.1' }, '192.0.2.60'],
  ['reads Forwarded in upper and lower case', PROXY, { forwarded: 'proto=https; For="192.0.2.60:8"' }, '192.0.2.60'],
  ['reads an IPv6 address in Forwarded', PROXY, { forwarded: 'for="[2001:db8:cafe::17]:4711"' }, '2001:db8:cafe::17'],
  ['uses the rightmost address in Forwarded', PROXY, { forwarded: 'for=8.8.8.8, for=192.0.2.60' }, '192.0.2.60'],
  ['uses the proxy address if Forwarded hides the client', PROXY, { forwarded: 'for=8.8.8.8, for=_hidden' }, PROXY],
  [
    'uses the proxy address if the last element of Forwarded has no address',
    PROXY,
    { forwarded: 'for=8.8.8.8, proto=http' },
    PROXY,
  ],
  [
    'uses the address on which Forwarded and X-Forwarded-For agree',
    PROXY,
    { forwarded: 'for=192.0.2.60', 'x-forwarded-for': '8.8.8.8, 192.0.2.60' },
    '192.0.2.60',
  ],
  [
    'returns unknown if Forwarded and X-Forwarded-For differ, as the client may have written one',
    PROXY,
    { forwarded: 'for=192.0.2.60', 'x-forwarded-for': '8.8.8.8' },
    'unknown',
  ],
  ['uses the proxy address if the forwarding header is empty', PROXY, { 'x-forwarded-for': '' }, PROXY],
  ['trusts a proxy with an IPv6 address', '2001:db8:1::1', { 'x-forwarded-for': '203.0.113.7' }, '203.0.113.7'],
  [
    'trusts a proxy whose IPv4 address is written as an IPv6 address',
    '::ffff:10.0.0.1',
    { 'x-forwarded-for': '203.0.113.7' },
    '203.0.113.7',
  ],
])('%s', (_, peer, headers, sender) => expect(senderOf(peer, headers, TRUSTED)).toBe(sender))
