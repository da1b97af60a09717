import { expect, it } from 'vitest'
import type { Device } from '../../src/config/devices.ts'
import { deviceOf } from '../../src/store/index.ts'
import { at, gateway, NOW_S, placeOf, van } from '../support/ingest.ts'
import { refusals } from '../support/listen.ts'
import { createDirectory } from '../support/roster.ts'
import { isConnected } from '../../src/store/device-record.ts'

const IDS = Array.from({ length: 10 }, (_, index) => `35630704244200${index}`)
const FLEET: Device[] = IDS.map((id, index) => ({ ...van, id, courier_id: `${50 + index}` }))
const [, UNKNOWN, SECRET, FULL] = IDS

/** A frame of a relay: a fix of each of ten devices. */
const ten = { fixes: IDS.map((device) => at(NOW_S * 1000, { device })), reply: 'ok' }
const ANSWERED = { status: 'stored', reply: Buffer.from('ok') }

type Stored = Awaited<ReturnType<typeof gateway>>['stored']

const devicesIn = (stored: Stored) => stored.flatMap(({ parts }) => parts.map(({ records }) => deviceOf(records)))

it('acknowledges a relay frame once, when all its fixes are stored, each in the lane of its device', async () => {
  const { say, stored } = await gateway({ devices: FLEET })
  expect(await say(ten)).toEqual(ANSWERED)
  expect(stored.flatMap(({ parts }) => parts.map(placeOf))).toEqual(
    FLEET.map(({ courier_id }) => `7/${courier_id}/1001`),
  )
  expect(devicesIn(stored)).toEqual(IDS)
})

it('acknowledges a relay frame without its unknown device and the one that lacks its secret', async () => {
  const devices = FLEET.filter(({ id }) => id !== UNKNOWN).map((device) =>
    device.id === SECRET ? { ...device, secret: 'canary' } : device,
  )
  const [unknown, wrong] = [await refusals('unknown_device'), await refusals('wrong_secret')]
  const { say, stored } = await gateway({ devices })
  expect(await say(ten)).toEqual(ANSWERED)
  expect(devicesIn(stored)).toEqual(IDS.filter((id) => id !== UNKNOWN && id !== SECRET))
  expect([await unknown(), await wrong()]).toEqual([1, 1])
})

it('holds fixes of unknown devices, and of those without their secret, in a relay frame if admitted', async () => {
  const devices = FLEET.filter(({ id }) => id !== UNKNOWN).map((device) =>
    device.id === SECRET ? { ...device, secret: 'canary' } : device,
  )
  const { say, stored } = await gateway({ devices, hold: { unknown: true } })
  expect(await say(ten)).toEqual(ANSWERED)
  const held = stored.flatMap(({ parts }) => parts).filter((part) => 'held' in part)
  expect(held.map((part) => [placeOf(part), part.device])).toEqual([
    ['held: unknown', UNKNOWN],
    ['held: unknown', SECRET],
  ])
})

it('acknowledges a relay frame only once all its lanes have room', async () => {
  const all = await gateway({ devices: FLEET, fullLane: '7/53/1001' })
  expect(await all.say(ten)).toEqual({ status: 'not_stored', reason: 'parked' })
  expect(devicesIn(all.stored)).toEqual(IDS.filter((id) => id !== FULL))
  all.state.fullLane = undefined
  expect(await all.say(ten)).toEqual(ANSWERED)
})

it('does not acknowledge a relay frame while Redis does not answer, and stores it whole afterwards', async () => {
  const all = await gateway({ devices: FLEET, fails: true, waitMs: 20_000 })
  const outcome = all.say(ten)
  await expect.poll(() => all.state.attempts).toBeGreaterThan(IDS.length)
  all.state.fails = false
  expect(await outcome).toEqual(ANSWERED)
  expect(devicesIn(all.stored).toSorted()).toEqual(IDS)
})

it('accepts a relay that is a device with a secret of its own, which stays proved', async () => {
  const relay = { ...van, id: '1', secret: 'relays own' }
  const { say, session, stored } = await gateway({ devices: [relay, ...FLEET] })
  await say({ device: '1', secret: 'relays own', none: 'login' })
  expect(await say(ten)).toEqual(ANSWERED)
  expect([session.device, session.isProved, session.identified?.entry.id]).toEqual(['1', true, '1'])
  expect(await say({ fixes: [at(NOW_S * 1000), ...ten.fixes], reply: 'ok' })).toEqual(ANSWERED)
  expect(devicesIn(stored)).toEqual([...IDS, '1', ...IDS])
})

it('keeps a relay frame with an entry that cannot be read', async () => {
  const { say, kept } = await gateway({ devices: FLEET })
  expect(await say({ ...ten, unreadable: [10] })).toEqual(ANSWERED)
  const others = IDS.slice(1).map((id) => [id, '7'])
  expect(kept()).toMatchObject([{ device: IDS[0], company: '7', others, reason: 'entries', unreadable: [10] }])
})

it('does not keep a relay frame for a device that gets a guard while the frame waits for Redis', async () => {
  const all = await gateway({ devices: FLEET, fails: true, waitMs: 20_000 })
  const outcome = all.say({ ...ten, unreadable: [10] })
  await expect.poll(() => all.state.attempts).toBeGreaterThan(0)
  const guarded = FLEET.map((device) => (device.id === UNKNOWN ? device : { ...device, secret: 'canary' }))
  all.state.roster = await createDirectory(guarded, [])
  all.state.fails = false
  expect(await outcome).toEqual(ANSWERED)
  expect(all.kept()).toMatchObject([{ device: UNKNOWN, company: '7', others: [] }])
})

it('gives the devices of a relay a contact without a connection', async () => {
  const { say, contacts } = await gateway({ devices: FLEET })
  await say(ten)
  expect(contacts.map(([device, session]) => [device, isConnected(session)])).toEqual(IDS.map((id) => [id, false]))
  await say({ device: IDS[0], none: 'login' })
  expect(contacts.slice(IDS.length).map(([device, session]) => [device, isConnected(session)])).toEqual([
    [IDS[0], true],
  ])
})
