import { expect, it, onTestFinished } from 'vitest'
import { Arrivals } from '../../src/gateway/arrivals.ts'
import { Conversation } from '../../src/gateway/conversation.ts'
import { RoundRobin } from '../../src/gateway/round-robin.ts'
import { createLogger } from '../../src/observe/log.ts'
import { surveyArrivals } from '../../src/store/arrivals.ts'
import { keys, type Store } from '../../src/store/index.ts'
import { beating } from '../support/beat.ts'
import { until } from '../support/listen.ts'
import { createDirectory } from '../support/roster.ts'
import { inEnglish } from '../support/texts.ts'
import { withRedis } from '../support/with-redis.ts'

/* Secrets in what was not understood: none is shown, and none is in Redis, so that none is in a backup. */

let redis: Store
withRedis((_, connection) => {
  redis = connection
})

const logger = createLogger('test', { level: 'fatal', format: 'json' })
const SECRET = 'moss-owl-7'
const COMMON = { company_id: '7', source: 'devices.yaml:1' }

/** Returns what the arrivals show of these bytes, and their evidence. */
async function arrived(
  bytes: string,
  { evidence = ['x'], secret = SECRET, others = 0, presented = '', wrong = '' } = {},
) {
  const vans = Array.from({ length: others }, (_, number) => ({
    ...COMMON,
    id: `${number}`,
    secret: `other-${number}`,
  }))
  const roster = await createDirectory([...vans, { ...COMMON, id: 'van-1', secret }, { ...COMMON, id: 'plain' }], [])
  const arrivals = beating(new Arrivals({ redis, maxDevices: 10, replica: { roster }, logger }), (each) => each.write())
  onTestFinished(() => arrivals.close())
  const guesses = [{ protocol: { name: 'talk' }, secret: presented || undefined, evidence }]
  const session = Object.assign(new Conversation('tcp', '192.0.2.7:5'), { presented: wrong })
  arrivals.notUnderstood(session, { port: 5, protocol: undefined, bytes: Buffer.from(bytes, 'latin1'), guesses })
  await until(async () => expect(await redis.llen(keys.arrivals)).toBe(1))
  const [sender] = await surveyArrivals(redis, () => false)
  expect(await redis.lindex(keys.arrivals, 0)).not.toContain(Buffer.from(SECRET).toString('hex'))
  return { shown: Buffer.from(sender.bytes ?? '', 'hex').toString('latin1'), evidence: inEnglish(sender.evidence) }
}

it.each([
  ['in a damaged login, whoever sent it', `#L#v?n-1;${SECRET};\r\n`, '#L#v?n-1;**********;\r\n'],
  ['at the end of a login that was cut off', `#L#van-1;${SECRET}`, '#L#van-1;**********'],
  ['of which only a part has arrived', '#L#356307042441013;moss-o', '#L#356307042441013;******'],
  ['in JSON', `{"id":"v","token":"${SECRET}"}`, '{"id":"v","token":"**********"}'],
  ['in JSON under another name', `{"id":"v","word":"${SECRET}"}`, '{"id":"v","word":"**********"}'],
  ['of no device, by the name of its field', '{"pwd":"of nobody"}', '{"pwd":"*********"}'],
  ['after 240 other bytes', `${'x'.repeat(240)} token=${'y'.repeat(90)} `, `${'x'.repeat(240)} token=*********`],
])('arrivals do not show a secret %s', async (_, bytes, expected) => {
  expect((await arrived(bytes)).shown).toBe(expected)
})

it('arrivals show an id at the end of the bytes', async () => {
  expect((await arrived('\0\x0f356307042441013')).shown).toBe('\0\x0f356307042441013')
  await redis.flushall()
  expect((await arrived('hello plain')).shown).toBe('hello plain')
})

it('arrivals do not show a secret in the evidence for a protocol', async () => {
  const { evidence } = await arrived(`at ${SECRET} 1 2\n`, { evidence: [`${SECRET} may be an id`] })
  expect(evidence).toEqual(['talk: ********** may be an id'])
})

it('arrivals do not show a wrong secret that was presented', async () => {
  expect((await arrived('1;nobodys;2\n', { wrong: 'nobodys' })).shown).toBe('1;*******;2\n')
})

it('arrivals do not show what a guessed protocol takes for a secret', async () => {
  expect((await arrived('1;nobodys;2\n', { presented: 'nobodys' })).shown).toBe('1;*******;2\n')
})

it('arrivals mask a secret among 4,000 while other work goes on', async () => {
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  onTestFinished(() => clearInterval(timer))
  const { shown } = await arrived('#L#v;other-3999;\r\n', { others: 4000 })
  expect(shown).toBe('#L#v;**********;\r\n')
  expect(turns).toBeGreaterThan(20)
})

it('arrivals show no word but an id if words and devices are too many to look for secrets', async () => {
  const { shown, evidence } = await arrived('#L#356307042441013;other-19999;\r\n', {
    others: 20_000,
    evidence: ['other-19999 may be an id'],
  })
  expect(shown).toBe('#*#356307042441013;***********;\r\n')
  expect(evidence).toEqual(['talk: *********** may be an id'])
})

it('a network that sends much keeps no other network out of the arrivals', async () => {
  const roster = await createDirectory(
    Array.from({ length: 5000 }, (_, number) => ({ ...COMMON, id: `${number}`, secret: `other-${number}` })),
    [],
  )
  const arrivals = beating(new Arrivals({ redis, maxDevices: 10, replica: { roster }, logger }), (each) => each.write())
  onTestFinished(() => arrivals.close())
  const junk = Buffer.from(Array.from({ length: 100 }, (_, n) => `w${n + 100}`).join(' '))
  const send = (remote: string, bytes: Buffer) =>
    arrivals.notUnderstood(new Conversation('tcp', remote), { port: 5, protocol: undefined, bytes, guesses: [] })
  for (let n = 0; n < 4; n++) send(`192.0.2.7:${n + 1}`, junk)
  send('198.51.100.1:5', Buffer.from('hello'))
  await until(async () => expect(await redis.llen(keys.arrivals)).toBe(5))
  const senders = await redis.lrange(keys.arrivals, 0, -1)
  const order = senders.toReversed().map((json) => (JSON.parse(json) as { address: string }).address)
  expect(order.findIndex((address) => address.startsWith('198'))).toBeLessThan(3)
})

it('too many waiting arrivals drop the newest of the network with the most', () => {
  const waiting = new RoundRobin<string>()
  for (const item of ['junk 1', 'junk 2', 'junk 3']) waiting.add('much', item)
  waiting.add('little', 'van')
  waiting.drop()
  expect([waiting.size, waiting.next(), waiting.next(), waiting.next()]).toEqual([3, 'junk 1', 'van', 'junk 2'])
})

it('a fault in masking an arrival ends nothing, and the next sender is shown', async () => {
  const roster = await createDirectory([], [])
  let faults = 1
  const secrets = () => {
    if (faults-- > 0) throw new Error('a fault')
    return roster.secrets()
  }
  const replica = { roster: Object.assign(Object.create(roster), { secrets, find: () => undefined }) }
  const arrivals = beating(new Arrivals({ redis, maxDevices: 10, replica, logger }), (each) => each.write())
  onTestFinished(() => arrivals.close())
  const send = (text: string) =>
    arrivals.notUnderstood(new Conversation('tcp', '192.0.2.7:5'), {
      port: 5,
      protocol: undefined,
      bytes: Buffer.from(text),
      guesses: [],
    })
  send('one')
  await until(async () => expect(faults).toBe(0))
  send('two')
  await until(async () => expect(await redis.llen(keys.arrivals)).toBe(1))
})
