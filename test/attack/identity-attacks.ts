import { createSocket } from 'node:dgram'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { bytes, gt06Frame, gt06Gps } from '../support/encode.ts'
import { RELAYS } from '../support/relay-frames.ts'
import { type Attack, type Cost, HOST, PLACE, sideBySide, type Victim } from './attacker-connections.ts'
import { HONEST_PLACE } from './honest-links.ts'

/** Attacks by senders who use the id, or the address, of somebody else. */
export const IDENTITY_ATTACKS = {
  'relay frames with guarded ids (HTTP)': relayFrames,
  'logins from the address of a van (UDP)': takenAddress,
  'an id that another company has deleted (admin)': deletedId,
} satisfies Record<string, Attack>

/**
 * Frames of relays under guarded ids, with an entry that cannot be read, and the parameters of OsmAnd in their address: decoded again
 * as the protocol of the device's entry, they would be another position.
 */
async function relayFrames({ guarded, ports }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  const relays = ['flespi', 'spot', 'globalstar', 'valtrack'] as const
  const ids = Object.values(guarded)
  let n = 0
  await sideBySide(relays.length, signal, async (index) => {
    const first = Math.floor(Math.random() * ids.length)
    const [device, other] = [ids[first], ids[(first + 1) % ids.length]]
    n++
    const place = { ...PLACE, latitude: PLACE.latitude + (n % 1000) * 1e-4 }
    const entries = [
      { ...place, device },
      { ...place, device: other },
      { ...place, device, isDamaged: true },
    ]
    const time = Math.floor(Date.now() / 1000)
    const query = `id=${device}&lat=${place.latitude}&lon=${place.longitude}&timestamp=${time}`
    const { frame } = RELAYS[relays[index]]
    await send(ports[`http/${relays[index]}`], frame(entries, query) as Frame, cost)
    await sleep(20)
  })
}

type Frame = Exclude<ReturnType<(typeof RELAYS)[string]['frame']>, Buffer>

async function send(port: number, { body, headers, method, uri }: Frame, cost: Cost): Promise<void> {
  cost.units++
  cost.bytes += body.length + uri.length
  const { promise, resolve } = Promise.withResolvers<void>()
  request({ host: HOST, port, method, path: uri, headers }, (answer) =>
    answer.on('data', (some: Buffer) => (cost.received += some.length)).on('close', resolve),
  )
    .on('error', () => resolve())
    .end(body)
  await promise
}

/** A van logs in, somebody else logs in from its address, and the van goes on: its fixes name no device. */
async function takenAddress({ known, ports, vans }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  await sideBySide(2, signal, async (index) => {
    const socket = createSocket('udp4')
    socket.on('message', (reply) => (cost.received += reply.length))
    const say = async (frame: Buffer) => {
      cost.units++
      cost.bytes += frame.length
      await new Promise((resolve) => socket.send(frame, ports['udp/auto'], HOST, resolve))
      await sleep(20)
    }
    await say(gt06Login(vans[index]))
    for (let round = 0; round < 3; round++) {
      for (const thief of known.slice(6, 8)) await say(gt06Login(thief))
      for (let fix = 0; fix < 4; fix++)
        await say(gt06Frame(0x12, gt06Gps({ date: dateOf(Date.now()), ...HONEST_PLACE })))
    }
    socket.close()
  })
}

/** A token of another company takes the id, and looks for what is stored of it. */
async function deletedId({ ports, rival }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  const { company, deleted, token } = rival
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const ask = async (path: string, change?: RequestInit) => {
    cost.units++
    const answer = await fetch(`http://${HOST}:${ports.admin}/admin/devices/${deleted}${path}`, { ...change, headers })
    const text = await answer.text()
    cost.received += text.length
    return text
  }
  await sideBySide(1, signal, async () => {
    await ask('', { method: 'PUT', body: JSON.stringify({ company_id: company }) })
    for (const path of ['', '/chain', '/frames', '/history']) {
      const [trace] = /last_heard|last_fix|127\.0\.0\.1|"fixes":[1-9]/.exec(await ask(path)) ?? []
      if (trace !== undefined && cost.told.length < 4) cost.told.push(`${trace} in the device's ${path || 'entry'}`)
    }
    await ask('', { method: 'DELETE' })
    await sleep(100)
  })
}

function gt06Login(imei: string): Buffer {
  return gt06Frame(0x01, bytes(`0${imei}`))
}

/** As gt06 has it: YYMMDDhhmmss. */
function dateOf(time: number): string {
  return new Date(time).toISOString().slice(2, 19).replaceAll(/\D/g, '')
}
