import { expect, it } from 'vitest'
import { hostPort, networkOf } from '../../src/domain/addresses.ts'

it.each([
  ['192.0.2.7', '192.0.2.0/24'],
  ['::ffff:192.0.2.7', '192.0.2.0/24'],
  ['2001:db8:1:2fe::9', '2001:db8:1:0200/56'],
  ['2001:db8:1:0201:1:2:3:4', '2001:db8:1:0200/56'],
  ['2001:db8::1', '2001:db8:0:0000/56'],
  ['::1', '0:0:0:0000/56'],
  ['fe80::1%eth0', 'fe80:0:0:0000/56'],
  ['', ''],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})

it('an IPv6 address with a port is written in brackets', () => {
  const hosts = ['old.example', '192.0.2.7', '::1', 'fe80::1%eth0']
  expect(hosts.map((host) => hostPort({ host, port: 5027 }))).toEqual([
    'old.example:5027',
    '192.0.2.7:5027',
    '[::1]:5027',
    '[fe80::1%eth0]:5027',
  ])
})
