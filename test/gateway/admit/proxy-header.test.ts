import { expect, it } from 'vitest'
import { readProxyHeader } from '../../../src/gateway/admit/proxy-header.ts'
import { proxyV2 } from '../../support/proxy.ts'

const V1 = Buffer.from('PROXY TCP4 203.0.113.7 192.0.2.1 51234 5027\r\n')
const V1_6 = Buffer.from('PROXY TCP6 2001:DB8:0::7 2001:db8::1 65535 5027\r\n')
const CERTIFICATE = Buffer.from([0x20, 0, 3, 1, 2, 3])

const HEADERS: readonly [name: string, bytes: Buffer, source: { address: string; port: number } | undefined][] = [
  ['version 1 over IPv4', V1, { address: '203.0.113.7', port: 51_234 }],
  ['version 1 over IPv6', V1_6, { address: '2001:db8::7', port: 65_535 }],
  ['version 1, unknown', Buffer.from('PROXY UNKNOWN\r\n'), undefined],
  ['version 1, unknown, with addresses', Buffer.from('PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n'), undefined],
  ['version 2 over IPv4', proxyV2('203.0.113.7', 51_234), { address: '203.0.113.7', port: 51_234 }],
  ['version 2 over IPv6', proxyV2('2001:db8::7', 1), { address: '2001:db8::7', port: 1 }],
  ['version 2 with TLVs', proxyV2('203.0.113.7', 1, { tlvs: CERTIFICATE }), { address: '203.0.113.7', port: 1 }],
  ['version 2, LOCAL', proxyV2('203.0.113.7', 1, { command: 0x20 }), undefined],
  ['version 2, LOCAL without addresses', Buffer.from('0d0a0d0a000d0a515549540a20000000', 'hex'), undefined],
  ['version 2, a Unix socket', proxyV2('203.0.113.7', 1, { family: 0x31 }), undefined],
]

it.each(HEADERS)('reads a PROXY header (%s) exactly at its last byte, whatever follows', (_, header, source) => {
  for (let length = 0; length < header.length; length++)
    expect(readProxyHeader(header.subarray(0, length))).toBe('incomplete')
  const expected = source ? { length: header.length, source } : { length: header.length }
  expect(readProxyHeader(header)).toEqual(expected)
  expect(readProxyHeader(Buffer.concat([header, header]))).toEqual(expected)
})

it.each([
  ['a login of Teltonika', Buffer.from('000f333536333037303432343431303133', 'hex')],
  ['an HTTP request', Buffer.from('GET / HTTP/1.1\r\n')],
  ['a handshake of TLS', Buffer.from('1603010200', 'hex')],
  ['a line of version 1 that does not end', Buffer.from(`PROXY TCP4 ${'1'.repeat(107)}`)],
  ['another family', Buffer.from('PROXY UDP4 203.0.113.7 192.0.2.1 1 2\r\n')],
  ['an address of the other family', Buffer.from('PROXY TCP6 203.0.113.7 192.0.2.1 1 2\r\n')],
  ['a wrong address', Buffer.from('PROXY TCP4 203.0.113.256 192.0.2.1 1 2\r\n')],
  ['an address with a zone', Buffer.from('PROXY TCP6 fe80::1%eth0 fe80::2 1 2\r\n')],
  ['a port above 65535', Buffer.from('PROXY TCP4 203.0.113.7 192.0.2.1 65536 2\r\n')],
  ['a port that is no number', Buffer.from('PROXY TCP4 203.0.113.7 192.0.2.1 1e3 2\r\n')],
  ['a port too few', Buffer.from('PROXY TCP4 203.0.113.7 192.0.2.1 1\r\n')],
  ['a field too many', Buffer.from('PROXY TCP4 203.0.113.7 192.0.2.1 1 2 3\r\n')],
  ['two blanks', Buffer.from('PROXY TCP4  203.0.113.7 192.0.2.1 1 2\r\n')],
  ['version 3', proxyV2('203.0.113.7', 1, { command: 0x31 })],
  ['an unknown command', proxyV2('203.0.113.7', 1, { command: 0x22 })],
  ['addresses that are too short', Buffer.from('0d0a0d0a000d0a515549540a211100080102030405060708', 'hex')],
  ['8 KiB of TLVs', proxyV2('203.0.113.7', 1, { tlvs: Buffer.alloc(8192) })],
])('refuses %s as a PROXY header', (_, bytes) => expect(readProxyHeader(bytes)).toBe('invalid'))

it('refuses a PROXY header at its first wrong byte', () => {
  for (const [, header] of HEADERS)
    for (let at = 0; at < 6; at++) {
      const broken = Buffer.from(header.subarray(0, at + 1))
      broken[at] ^= 0x80
      expect(readProxyHeader(broken)).toBe('invalid')
    }
})
