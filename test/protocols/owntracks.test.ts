import { expect, it } from 'vitest'
import { type HttpRequest, kmh, type Message, type Session } from '../../protocols/kit/index.ts'
import owntracks from '../../protocols/owntracks/index.ts'
import { newSession, refusalOf } from '../support/rough.ts'
import { encrypted } from '../support/secretbox.ts'
import { LOCATION } from './owntracks.ts'

const FIX = {
  time: Date.UTC(2024, 4, 1, 10, 15, 30),
  latitude: 52.525,
  longitude: 13.41,
  valid: true,
  altitude: 34,
  speed: kmh(36),
  heading: 270,
  accuracy: 5,
}

function published(payload: unknown): Message {
  return owntracks.decode(Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload)), newSession())
}

function posted(payload: unknown, headers: HttpRequest['headers'] = {}, uri = '/pub'): Message {
  const body = Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload))
  return owntracks.request({ method: 'POST', uri, headers, body }, newSession())
}

const messageOf = (work: () => unknown) => refusalOf(work)?.message

it('reads a location over MQTT as a fix without a device, which the MQTT topic names', () => {
  expect(published({ ...LOCATION, topic: 'owntracks/jane/phone' })).toEqual({ fixes: [FIX] })
})

it('reads each location of an array', () => {
  expect(published([LOCATION, { _type: 'lwt', tst: 1 }, { ...LOCATION, tst: 1714558531 }]).fixes).toEqual([
    FIX,
    { ...FIX, time: FIX.time + 1000 },
  ])
})

it('reports entries of an array that cannot be read, but not those of other types', () => {
  const { fixes, unreadable } = published([{ ...LOCATION, lat: null }, { _type: 'lwt' }, LOCATION, 'x'])
  expect([fixes, unreadable]).toEqual([[FIX], [0, 3]])
})

it('reads no fix from messages of other types', () => {
  for (const type of ['waypoint', 'waypoints', 'transition', 'lwt', 'status', 'card', 'cmd', 'steps'])
    expect(published({ ...LOCATION, _type: type })).toEqual({ none: 'no location' })
  expect(published({ ...LOCATION, _type: 'new' })).toEqual({})
})

it('leaves out values that are −1 or absent', () => {
  const { acc: _, alt: __, ...rest } = LOCATION
  expect(published({ ...rest, vel: -1, cog: -1 }).fixes).toEqual([
    { time: FIX.time, latitude: 52.525, longitude: 13.41, valid: true },
  ])
})

it('names what is wrong in a message', () => {
  expect(messageOf(() => published('hello'))).toBe('the frame is malformed: it is not JSON')
  expect(messageOf(() => published('null'))).toBe('the frame is malformed: a message is not an object')
  expect(messageOf(() => published({ lat: 1, lon: 2, tst: 3 }))).toBe('the frame is malformed: _type is missing')
  expect(messageOf(() => published({ ...LOCATION, tst: 'now' }))).toBe(
    'the frame is malformed: "now" is not an RFC 3339 time',
  )
  expect(messageOf(() => published(JSON.stringify(LOCATION).replace('52.525', '1e999')))).toBe(
    'the frame is malformed: "Infinity" is not a number',
  )
  expect(messageOf(() => published({ _type: 'encrypted', data: 'x' }))).toMatch('data is no nonce with a box')
})

const sealed = encrypted({ ...LOCATION, topic: 'owntracks/joe/phone' }, 'key')

it('passes on the nonce and the box of an encrypted message for the device that the address names', () => {
  const message = posted(sealed, {}, '/pub?u=jane')
  expect(message).toMatchObject({ device: 'jane', fixes: [] })
  expect([message.sealed?.nonce.length, message.none]).toEqual([24, undefined])
  const content = Buffer.from(JSON.stringify(LOCATION))
  expect(message.sealed?.read(content, {} as Session)).toEqual({ fixes: [FIX] })
  expect(published(sealed)).toMatchObject({ fixes: [], sealed: { box: message.sealed?.box } })
})

it('reports an encrypted message within an array as unreadable', () => {
  expect(published([LOCATION, sealed])).toEqual({ fixes: [FIX], unreadable: [1] })
})

it('takes the device from the UserID of the topic, X-Limit-U, X-Limit-D or tid, in this order', () => {
  const headers = { 'x-limit-u': 'jane', 'x-limit-d': 'phone 1' }
  expect(posted({ ...LOCATION, topic: 'owntracks/joe/phone' }, headers).device).toBe('joe')
  expect(posted({ ...LOCATION, topic: 'owntracks' }, headers).device).toBe('jane')
  expect(posted(LOCATION, headers)).toEqual({ device: 'jane', secret: undefined, fixes: [FIX] })
  expect(posted(LOCATION, { 'x-limit-u': '', 'x-limit-d': 'phone 1' }).device).toBe('phone 1')
  expect(posted([LOCATION]).device).toBe('v1')
  expect(posted({ ...LOCATION, tid: 7 }).device).toBeUndefined()
})

it('takes the device from the user of the address, else from its device', () => {
  expect(posted(LOCATION, {}, '/pub?u=jane&d=phone').device).toBe('jane')
  expect(posted(LOCATION, {}, '/pub?u=&d=phone%201').device).toBe('phone 1')
  expect(posted(LOCATION, {}, '/pub?u=&d=').device).toBe('v1')
  expect(posted(LOCATION, { 'x-limit-d': 'phone' }, '/pub?u=jane').device).toBe('jane')
  expect(posted(LOCATION, { 'x-limit-u': 'joe' }, '/pub?u=jane').device).toBe('joe')
  expect(posted({ ...LOCATION, topic: 'owntracks/joe/phone' }, {}, '/pub?u=jane').device).toBe('joe')
})

it('takes the password of HTTP Basic as the secret', () => {
  const secretOf = (text: string) =>
    posted(LOCATION, { authorization: `Basic ${Buffer.from(text).toString('base64')}` }).secret
  expect(['jane:a:b &=ü', 'jane:', 'jane'].map(secretOf)).toEqual(['a:b &=ü', undefined, undefined])
  expect(posted(LOCATION, { authorization: 'Bearer x' }).secret).toBeUndefined()
})

it('reads no location from an empty payload, which deletes a friend', () => {
  expect(posted('', { 'x-limit-d': 'phone' })).toEqual({ device: 'phone', secret: undefined, none: 'no location' })
  expect(posted('')).toEqual({ none: 'no location' })
})
