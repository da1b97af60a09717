import { expect, it } from 'vitest'
import {
  alarmsIn,
  alarmsOf,
  DecodeError,
  enveloped,
  jsonProtocol,
  type Message,
  said,
  textProtocol,
} from '../../protocols/kit/index.ts'
import { newSession } from '../support/rough.ts'

it('said leaves out values that are unknown or impossible', () => {
  const all = {
    ignition: false,
    external_voltage: 12.6,
    battery_percent: 100,
    driver: 'A1',
    alarms: ['sos'],
  } as const
  expect(said({ ...all, moving: undefined, battery_voltage: Number.NaN })).toEqual(all)
  expect(said({ external_voltage: -1, battery_percent: 101, driver: '0000', alarms: [] })).toBeUndefined()
  expect(said({ external_voltage: 655.35, battery_voltage: 65.535 })).toBeUndefined()
  expect(said({})).toBeUndefined()
})

it('alarmsOf and alarmsIn name each alarm once', () => {
  expect(alarmsOf('sos', false, 0, undefined, 'tow', 'sos')).toEqual(['sos', 'tow'])
  expect(alarmsIn(0b101, ['low_battery', 'sos', 'power_cut'])).toEqual(['low_battery', 'power_cut'])
  expect(alarmsIn(0b010, ['low_battery', undefined])).toEqual([])
})

it('textProtocol reads what a tracker says beside a position, with a fix and without one', () => {
  const { decode } = textProtocol({
    name: 'drawn',
    devices: 'none',
    port: 1,
    fields: { event: { alarms: { SOS: 'sos', CUT: 'power_cut' } }, other: { alarms: { L: 'low_battery' } } },
    lines: [
      { like: '$P,{imei},{event},{other},[{ignition}],{externalVolts/1000},{batteryPercent},{driver},{lat},{lon}' },
      { like: '$H,{imei},{batteryVolts},{charging},{moving}', none: 'heartbeat' },
    ],
  })
  const read = (line: string) => decode(Buffer.from(line), newSession())
  expect(read('$P,123456789012345,SOS,L,1,12600,80,AB12,52,13').fixes?.[0].said).toEqual({
    ignition: true,
    external_voltage: 12.6,
    battery_percent: 80,
    driver: 'AB12',
    alarms: ['sos', 'low_battery'],
  })
  expect(read('$P,123456789012345,toString,,,,,,52,13').fixes?.[0].said).toBeUndefined()
  expect(read('$H,123456789012345,3.9,0,1')).toMatchObject({
    none: 'heartbeat',
    said: { battery_voltage: 3.9, charging: false, moving: true },
  })
})

it('jsonProtocol reads what a tracker says beside a position, with a fix and without one', () => {
  const protocol = jsonProtocol({
    name: 'json',
    devices: 'none',
    tcp: { port: 1, frame: (bytes) => bytes.length },
    device: 'id',
    fix: { latitude: 'lat', longitude: 'lon', timeOrArrival: 't' },
    said: {
      ignition: 'acc',
      charging: 'usb',
      battery_voltage: 'v',
      driver: 'tag',
      alarms: ({ e }) => alarmsOf(e === 1 && 'sos'),
    },
  })
  const read = (value: object) => protocol.decode?.(Buffer.from(JSON.stringify(value)), newSession())
  expect(read({ id: 1, lat: 52, lon: 13, acc: 'ON', usb: 0, v: '3.7', tag: 77, e: 1 })?.fixes?.[0].said).toEqual({
    ignition: true,
    charging: false,
    battery_voltage: 3.7,
    driver: '77',
    alarms: ['sos'],
  })
  expect(read({ id: 1, acc: false })).toMatchObject({ none: 'no place', said: { ignition: false } })
  expect(read({ id: 1 })?.said).toBeUndefined()
})

const envelope: Message = { device: '1', reply: Buffer.of(6) }

it('enveloped adds the envelope of a frame to the error of its content', () => {
  const read = () =>
    enveloped(envelope, () => {
      throw new DecodeError('malformed')
    })
  expect(thrownBy(read).envelope).toEqual(envelope)
  expect(enveloped(envelope, () => ({ fixes: [] }))).toEqual({ ...envelope, fixes: [] })
})

it('enveloped prefers the inner envelope to the outer one, and passes on other errors', () => {
  const inner = { device: '2' }
  const twice = () =>
    enveloped(envelope, () =>
      enveloped(inner, () => {
        throw new DecodeError('truncated')
      }),
    )
  expect(thrownBy(twice).envelope).toEqual({ device: '2', reply: Buffer.of(6) })
  const fault = new TypeError('ours')
  expect(() =>
    enveloped(envelope, () => {
      throw fault
    }),
  ).toThrow(fault)
})

it('textProtocol and jsonProtocol keep device and answer in the error if the content cannot be read', () => {
  const line = textProtocol({
    name: 'drawn',
    devices: 'none',
    port: 1,
    lines: [{ like: '{imei},{dmy},{hms},{lat},{lon}', answer: 'OK {id}' }],
  })
  const badDate = () => line.decode(Buffer.from('123456789012345,310226,120000,52,13'), newSession())
  expect(thrownBy(badDate).envelope).toEqual({ device: '123456789012345', reply: Buffer.from('OK 123456789012345') })
  const json = jsonProtocol({
    name: 'json',
    devices: 'none',
    http: { port: 1 },
    device: 'id',
    fix: { latitude: 'lat', longitude: 'lon', time: 't' },
    answer: '{}',
  })
  const request = { method: 'POST', uri: '/', headers: {}, body: Buffer.from('{"id":"7","lat":1,"lon":2}') }
  const { envelope: found } = thrownBy(() => json.request(request, newSession()))
  expect(found).toMatchObject({ device: '7', response: { body: '{}' } })
})

function thrownBy(read: () => unknown): DecodeError {
  try {
    read()
  } catch (error) {
    if (error instanceof DecodeError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}
