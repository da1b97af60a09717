import { expect, it, onTestFinished, vi } from 'vitest'
import type { Transport } from '../../protocols/kit/index.ts'
import type { Device } from '../../src/config/devices.ts'
import { Conversation } from '../../src/gateway/conversation.ts'
import { UnknownDeviceQuota } from '../../src/gateway/unknown-devices.ts'
import { GuessDelays } from '../../src/gateway/guesses.ts'
import { Identity, ResolvedDevice } from '../../src/gateway/identity.ts'
import { observations } from '../../src/observe/observations.ts'
import { journalOf, QUIET_BOOKS } from '../support/journal.ts'
import { createDirectory } from '../support/roster.ts'
import { inEnglish } from '../support/texts.ts'

const VAN: Device = { id: '0356307042441013', company_id: '7', courier_id: '42', source: 'devices.yaml:1' }

interface Came {
  device?: string
  secret?: string
  protocol?: string
  transport?: Transport
  from?: string
  certificate?: string
}

const sessionOf = ({ transport = 'tcp', from = '192.0.2.7', certificate }: Came = {}): Conversation =>
  new Conversation(transport, `${from}:4711`, { certificate })

/** `comes` returns what a sender is taken for: `device …`, `unknown …`, or the reason of its refusal. */
async function gate(devices: Device[], { admitsUnknown = false } = {}) {
  const told: string[] = []
  const replica = { roster: await createDirectory(devices, []), version: 0 }
  const identity = new Identity({
    replica,
    admitsUnknown: () => admitsUnknown,
    unknownDevices: new UnknownDeviceQuota(20),
    guesses: new GuessDelays(),
  })
  const became = (device: string) => (treatment: string, what: string) =>
    void told.push(`${device} ${treatment} ${what}`)
  const journal = journalOf({
    heard: {
      ...QUIET_BOOKS.heard,
      of: (device) => ({
        spoke: () => {},
        sentBefore: () => {},
        stored: () => {},
        said: () => {},
        behindMs: 0,
        became: became(device),
      }),
    },
  })
  const comes = (came: Came, session = sessionOf(came)) => {
    const { device = VAN.id, protocol = 'teltonika', secret } = came
    const sender = identity.senderOf({ device, secret }, session, protocol)
    journal.login(device, { session, at: Date.now() }, sender)
    if (!('reason' in sender)) session.spokeAs({ sender, protocol: undefined, rosterVersion: 0 }, secret)
    return 'reason' in sender ? sender.reason : `${sender.entry ? 'device' : 'unknown'} ${sender.id}`
  }
  return { comes, told, replica }
}

const IS_VAN = `device ${VAN.id}`
const evidenceFor = (code: string, device: string) =>
  inEnglish(observations.current()).find((each) => each.code === code && each.subject.device === device)?.evidence

it.for<[string, Partial<Device>, Came, Came, string]>([
  ['by its transports', { transports: ['tcp', 'mqtt'] }, { transport: 'tcp' }, { transport: 'udp' }, 'transport udp'],
  ['by its protocol', { protocol: 'teltonika' }, { protocol: 'teltonika' }, { protocol: 'h02' }, 'protocol h02'],
  ['from its networks', { networks: ['192.0.2.0/24'] }, {}, { from: '198.51.100.7' }, 'another network'],
  ['from its networks', { networks: ['2001:db8::/32'] }, { from: '2001:db8::7' }, {}, 'another network'],
  [
    'from its networks, also over an IPv6 socket',
    { networks: ['192.0.2.0/24'] },
    { from: '::ffff:192.0.2.9' },
    { from: '::1' },
    'another network',
  ],
  [
    'with its certificate',
    { client_certificate: ['a', 'van 12'] },
    { certificate: 'van 12' },
    {},
    'no client certificate',
  ],
])('accepts a device only %s: %o', async ([, guard, permitted, not, hindrance], { task }) => {
  const { id } = task
  const { comes, told } = await gate([{ ...VAN, id, ...guard }])
  expect(comes({ device: id, ...permitted })).toBe(`device ${id}`)
  expect(comes({ device: id, ...not })).toBe('not_permitted')
  expect(told).toEqual([`${id} refused not_permitted`])
  expect(evidenceFor('not_permitted', id)).toEqual([`${hindrance}, from ${not.from ?? '192.0.2.7'}`])
})

it('treats a device that lacks its proof as unknown, and holds its fixes if unknown devices are admitted', async () => {
  const { comes } = await gate([{ ...VAN, networks: ['10.0.0.0/8'] }], { admitsUnknown: true })
  expect(comes({})).toBe('unknown 356307042441013')
  expect(comes({ device: '9' })).toBe('unknown 9')
  expect(comes({ secret: 'guess' })).toBe('not_permitted')
  expect(comes({ device: '9', secret: 'guess' })).toBe('unknown_device')
})

it('accepts a client certificate that names the id of a device as its proof, in place of a secret', async () => {
  const { comes } = await gate([{ ...VAN, secret: 'right-secret' }])
  const session = sessionOf({ certificate: '356307042441013' })
  expect([comes({}, session), session.isProved]).toEqual([IS_VAN, true])
})

it.for([true, false])(
  'refuses every other id on a connection with a client certificate (hold.unknown %s)',
  async (admits) => {
    const other = { ...VAN, id: '2' }
    const { comes } = await gate([VAN, other, { ...VAN, id: '3', client_certificate: ['x'] }], {
      admitsUnknown: admits,
    })
    for (const device of ['2', '3', '4']) expect(comes({ device, certificate: VAN.id })).toBe('other_device')
  },
)

it('takes a client certificate that no entry lists for that of an unknown device of its name', async () => {
  const { comes } = await gate([VAN], { admitsUnknown: true })
  expect([comes({ device: '77', certificate: '77' }), comes({ certificate: '77' })]).toEqual([
    'unknown 77',
    'other_device',
  ])
})

it('accepts a secret and the previous one, until the previous one is removed', async () => {
  const { comes, replica } = await gate([{ ...VAN, secret: 'second-secret', previous_secret: 'first-secret' }])
  expect(comes({ secret: 'first-secret' })).toBe(IS_VAN)
  expect(comes({ secret: 'second-secret' })).toBe(IS_VAN)
  expect(comes({ secret: 'third-secret' })).toBe('wrong_secret')
  const open = sessionOf()
  expect(comes({ secret: 'first-secret' }, open)).toBe(IS_VAN)
  replica.roster = await createDirectory([{ ...VAN, secret: 'second-secret' }], [])
  expect(comes({}, open)).toBe('wrong_secret')
})

it('checks a secret once on a connection, and again when the roster changes', async () => {
  const { comes, replica } = await gate([{ ...VAN, secret: 'right-secret' }])
  const session = sessionOf()
  expect(comes({ secret: 'right-secret' }, session)).toBe(IS_VAN)
  const { identified } = session
  expect(comes({}, session)).toBe(IS_VAN)
  expect(session.identified).toBe(identified)
  replica.roster = await createDirectory([{ ...VAN, secret: 'another-secret' }], [])
  expect(comes({}, session)).toBe('wrong_secret')
})

it('refuses even the right secret from a network after wrong guesses, and accepts it from another', async () => {
  const { comes } = await gate([{ ...VAN, secret: 'right-secret' }])
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  for (let tries = 0; tries < 6; tries++) expect(comes({ secret: `guess ${tries}` })).toBe('wrong_secret')
  expect(comes({ secret: 'right-secret' })).toBe('wrong_secret')
  expect(comes({ secret: 'right-secret', from: '203.0.113.9' })).toBe(IS_VAN)
})

const spoken = (id: string) => ({ sender: new ResolvedDevice(id, undefined), protocol: undefined, rosterVersion: 1 })

it('a session that another device takes over counts as one that has stored nothing', () => {
  const session = Object.assign(sessionOf(), { device: '1', storedAt: 1000, storesEveryMs: 10_000 })
  session.spokeAs(spoken('1'))
  expect(session).toMatchObject({ storedAt: 1000, storesEveryMs: 10_000 })
  session.spokeAs(spoken('2'))
  expect(session).toMatchObject({ storedAt: 0, storesEveryMs: 0 })
})
