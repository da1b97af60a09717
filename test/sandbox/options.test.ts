import { expect, it } from 'vitest'
import { readDevices } from '../../src/config/devices.ts'
import { createFleet, devicesYaml } from '../../src/sandbox/fleet.ts'
import { durationOption, portOf, portsOption, speechesOption, vansOption } from '../../src/sandbox/options.ts'
import { speeches } from '../../src/sandbox/speak/index.ts'

it('a fleet has different ids of fifteen digits that end with the check digit', () => {
  const [teltonika] = speeches
  const ids = createFleet(2000, [teltonika]).map(({ id }) => id)
  expect(new Set(ids).size).toBe(2000)
  expect(ids.every((id) => /^\d{15}$/.test(id) && luhn(id) % 10 === 0)).toBe(true)
  expect(ids[0]).toBe('359999000000018')
})

it('a fleet has the last digits of the ids if a protocol has shorter numbers', () => {
  const fleet = createFleet(2000, speeches)
  expect(new Set(fleet.map(({ id }) => id)).size).toBe(2000)
  expect(fleet.find(({ speech }) => speech.name === 'tk103')?.id).toBe('999000000125')
  expect(fleet.find(({ speech }) => speech.name === 'meiligao')?.id).toHaveLength(14)
})

it('a fleet uses all ways of sending in turn', () => {
  const names = createFleet(speeches.length + 1, speeches).map(({ speech }) => speech.name)
  expect(names).toEqual([...speeches.map(({ name }) => name), speeches[0].name])
})

it('a fleet writes a devices.yaml that the configuration reads', async () => {
  const fleet = createFleet(3, speeches)
  const { devices, mistakes } = await readDevices({
    name: 'devices.yaml',
    file: 'devices.yaml',
    text: devicesYaml(fleet, '7'),
  })
  expect(mistakes).toEqual([])
  expect(
    devices.map(({ device }) => [device.id, device.name, device.company_id, device.courier_id, device.route_id]),
  ).toEqual(fleet.map(({ id }, index) => [id, `Van ${index + 1}`, '7', `${index + 1}`, `${1001 + index}`]))
})

it.each([
  ['gt06', ['gt06']],
  ['teltonika', ['teltonika', 'teltonika-udp', 'teltonika-8e']],
  ['teltonika,gt06,mqtt', ['teltonika', 'gt06', 'owntracks', 'fix', 'teltonika-udp', 'teltonika-8e']],
  ['udp, http', ['osmand', 'teltonika-udp']],
  ['xexun,jt808', ['jt808', 'xexun']],
  ['teltonika-8e', ['teltonika-8e']],
])('--protocols %s selects the ways of sending %j', (text, names) => {
  expect(speechesOption(text).map(({ name }) => name)).toEqual(names)
})

it('--protocols names the most similar protocol, and all of them', () => {
  const all =
    'Vans speak teltonika, gt06, h02, wialon, osmand, owntracks, fix, jt808, gl200, gps103, tk103, meitrack, watch, egts, ' +
    'eelink, castel, t55, jt600, totem, laipac, upro, suntech, meiligao, megastek, xexun; tcp, udp, http and mqtt name all of a transport.'
  expect(() => speechesOption('gt06,teltonica')).toThrow(
    `--protocols: "teltonica": unknown protocol: did you mean teltonika? ${all}`,
  )
  expect(() => speechesOption('unlike-anything')).toThrow(`--protocols: "unlike-anything": unknown protocol. ${all}`)
})

it.each([
  ['15', 15_000],
  ['1500ms', 1500],
  ['2m', 120_000],
])('the duration %s is read as %i ms', (text, ms) => {
  expect(durationOption('--seconds', text, 1000)).toBe(ms)
})

it.each([
  ['soon', '--interval soon: expected a duration such as 500ms, 15s or 5m.'],
  ['-5', '--interval -5: expected a duration such as 500ms, 15s or 5m.'],
  ['500ms', '--interval 500ms: at least 1s.'],
])('the duration %s is refused', (text, message) => {
  expect(() => durationOption('--interval', text, 1000)).toThrow(message)
})

it.each(['0', '-1', '1.5', 'many', '1000000'])('--vans refuses %s', (text) => {
  expect(() => vansOption(text)).toThrow(`--vans ${text}: expected a whole number from 1 to 999999.`)
})

it('--vans accepts a whole number', () => {
  expect(vansOption('2000')).toBe(2000)
})

it('--port defaults to the usual port of each protocol', () => {
  const ports = speeches.map((speech) => portOf(speech, portsOption([])))
  expect(ports.slice(0, 10)).toEqual([5027, 5023, 5013, 5039, 5055, 1883, 1883, 5027, 5015, 5004])
  expect(ports.every((port) => port > 1000)).toBe(true)
})

it('--port changes a protocol on all transports, or on one of them', () => {
  const ports = portsOption(['teltonika=6001', 'udp/teltonika=6002', 'mqtt=6003'])
  expect([ports['tcp/teltonika'], ports['udp/teltonika'], ports.mqtt, ports['tcp/gt06']]).toEqual([
    6001, 6002, 6003, 5023,
  ])
})

it.each([
  ['teltonika', '--port teltonika: expected a name and a port, such as teltonika=5027.'],
  ['teltonika=0', '--port 0: expected a whole number from 1 to 65535.'],
  ['teltonika=65536', '--port 65536: expected a whole number from 1 to 65535.'],
  ['mqt=1883', '--port mqt=1883: unknown listener: did you mean mqtt?'],
])('--port %s is refused', (text, message) => {
  expect(() => portsOption([text])).toThrow(message)
})

function luhn(id: string): number {
  return Array.from(id.split('').toReversed(), Number).reduce((sum, digit, index) => {
    const weighted = index % 2 === 0 ? digit : digit * 2
    return sum + Math.floor(weighted / 10) + (weighted % 10)
  }, 0)
}
