import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { loadProtocol, protocolPorts } from '../../protocols/index.ts'
import { repliesOf } from '../../protocols/kit/index.ts'
import { startGateway } from '../../src/process/roles/gateway.ts'
import { followConfig } from '../../src/process/roles/live.ts'
import { type StreamSpeech, speeches } from '../../src/sandbox/speak/index.ts'
import { keys, readFrames, type Store, timestampOf } from '../../src/store/index.ts'
import type { MisunderstoodFrame } from '../../src/store/misunderstood-frame.ts'
import { dial, until } from '../support/listen.ts'
import { casesOf, type OwnFrame } from '../support/protocol-cases.ts'
import { records } from '../support/records.ts'
import type { TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

const IMEI = '356307042441013'
const TIMES = 10
const NOW_S = Math.floor(Date.now() / 1000)

let server: TestRedis
let redis: Store

withRedis((one, connection) => {
  server = one
  redis = connection
})

/** Returns a test frame of a protocol whose content cannot be read, but which has an answer. */
async function unreadFrameOf(protocol: string): Promise<OwnFrame> {
  const { frames } = await casesOf(protocol)
  const unread = frames.flatMap((each) => each.frames).find(({ envelope }) => envelope?.reply !== undefined)
  if (!unread) throw new Error(`${protocol} has no frame with an envelope`)
  return unread
}

/** Starts a gateway with a listener for one protocol, and one device. */
async function gateway(protocol: string, device: string) {
  const dir = await mkdtemp(join(tmpdir(), 'waybridge-unread-'))
  const yaml = `
redis: { url: "${server.url}" }
data_dir: "${join(dir, 'data')}"
companies: [{ company_id: 7, apikey: key }]
listeners: [{ transport: tcp, port: 0, protocol: ${protocol}, host: 127.0.0.1 }]
log: { level: fatal }
`
  await writeFile(join(dir, 'gateway.yaml'), yaml)
  const entry = { company_id: 7, courier_id: 42, route_id: 1001 }
  await writeFile(join(dir, 'devices.yaml'), JSON.stringify({ [device]: entry }))
  const live = await followConfig({ dir, protocols: protocolPorts, role: 'gateway', followsFiles: true })
  const role = await startGateway(live, { redisServer: server.url, ports: {} })
  onTestFinished(async () => {
    await role.close()
    await rm(dir, { recursive: true })
  })
  return role.ports?.[`tcp/${protocol}`] ?? 0
}

// Frames of the first three are proved by a checksum; those of the others are answered when they are repeated.
it.each([
  ['gt06', 0],

  ['meitrack', 0],
  ['teltonika', 0],
  ['eelink', 1],
  ['tk103', 1],
])(
  'a tracker of %s that sends an unknown layout ten times between good frames loses nothing',
  async (name, unanswered) => {
    const speech = speeches.find((each) => each.name === name) as StreamSpeech
    const { envelope, frame } = await unreadFrameOf(name)
    const protocol = await loadProtocol(name)
    const id = envelope?.device ?? IMEI
    const port = await gateway(name, id)
    const van = await dial(port)
    const heard = () => Buffer.from(van.heard, 'latin1')
    const login = speech.login?.(id)
    if (login) {
      van.say(login.bytes)
      await until(() => expect(heard().length).toBeGreaterThan(0))
    }
    const [reply] = repliesOf(Buffer.from(envelope?.reply as string | Buffer))
    const times: number[] = []
    for (let serial = 1; serial <= TIMES; serial++) {
      const time = (NOW_S - 60 + serial) * 1000
      times.push(time / 1000)
      const where = {
        latitude: 52.5 + serial / 1e4,
        longitude: 13.4,
        valid: true,
        speed: 10,
        heading: 90,
        satellites: 9,
      }
      const good = speech.packet([{ time, ...where }], { id, serial })
      const before = heard().length
      van.say(Buffer.concat([good.bytes, Buffer.from(frame as string | Buffer)]))
      const isAnswered = serial > unanswered || !good.accepted
      if (isAnswered) await until(() => expect(heard().length).toBeGreaterThan(before))
    }
    const answers = () => heard().toString('latin1').split(reply.toString('latin1')).length - 1
    await until(() => expect(answers()).toBeGreaterThanOrEqual(TIMES - unanswered))
    const lane = async () =>
      records(Buffer.concat(await redis.lrangeBuffer(keys.lane('7/42/1001'), 0, -1))).map(timestampOf)
    await until(async () => expect(await lane()).toEqual(times))
    expect(van.over).toBe(false)
    const kept = (await readFrames(redis, { count: 100 })).map(({ text }) => JSON.parse(text) as MisunderstoodFrame)
    expect(kept).toHaveLength(TIMES - unanswered)
    expect(kept[0]).toMatchObject({
      device: id,
      reason: 'not_read',
      protocol: protocol?.name,
      error: expect.any(String),
    })
  },
)
