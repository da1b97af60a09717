import { afterEach, expect, it, vi } from 'vitest'
import { UnknownDeviceQuota } from '../../src/gateway/unknown-devices.ts'

afterEach(() => void vi.useRealTimers())

const over = (transport: 'tcp' | 'udp', remote: string) => ({ transport, remote })
const VAN = over('tcp', '192.0.2.7:4711')

it('gives a network places for a tenth of the unknown devices, and each other network its own', () => {
  const quota = new UnknownDeviceQuota(20)
  expect(['1', '2', '3', '1'].map((id) => quota.admit(id, VAN))).toEqual([true, true, false, true])
  expect(quota.admit('3', over('tcp', '192.0.2.8:4711'))).toBe(false)
  expect(quota.admit('3', over('tcp', '192.0.3.7:4711'))).toBe(true)
})

it('gives a network new places for unknown devices after an hour', () => {
  vi.useFakeTimers()
  const quota = new UnknownDeviceQuota(10)
  expect([quota.admit('1', VAN), quota.admit('2', VAN)]).toEqual([true, false])
  vi.advanceTimersByTime(3_600_001)
  expect(quota.admit('2', VAN)).toBe(true)
})

it('remembers up to 100,000 devices of forged datagrams, which free no places of connections', () => {
  const quota = new UnknownDeviceQuota(10)
  const datagram = over('udp', '192.0.2.7:5000')
  expect([quota.admit('1', VAN), quota.admit('1', datagram)]).toEqual([true, true])
  for (let n = 0; n < 99_999; n++)
    quota.admit(String(n), over('udp', `${10 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}.1:5000`))
  expect([quota.admit('2', VAN), quota.admit('2', datagram)]).toEqual([false, true])
})
