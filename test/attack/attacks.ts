import { setTimeout as sleep } from 'node:timers/promises'
import { avlDatagram, avlLogin } from '../support/encode.ts'
import {
  type Attack,
  type Cost,
  dial,
  HOST,
  once,
  PLACE,
  sendDatagrams,
  sideBySide,
  type Victim,
  write,
} from './attacker-connections.ts'
import { AUTO_ATTACKS } from './auto-attacks.ts'
import { FRESH_ATTACKS } from './fresh-attacks.ts'
import { ID_ATTACKS, login, packet } from './id-attacks.ts'
import { IDENTITY_ATTACKS } from './identity-attacks.ts'
import { mqttConnect, mqttPublish } from './mqtt-packets.ts'
import { ORACLE_ATTACKS } from './oracle-attacks.ts'
import { TAKEOVER_ATTACKS } from './takeover-attacks.ts'
import { TRUST_ATTACKS } from './trust-attacks.ts'
import { WORK_ATTACKS } from './work-attacks.ts'

/** Each attack goes on until it is stopped; the number is the row of the table of SECURITY.md that it belongs to. */
export const ATTACKS = {
  'future times from known ids (UDP)': futureTimes,
  'fixes 2,048 s apart from known ids (TCP)': spans,
  'fixes of one span from a known id (TCP)': oneSpan,
  'pings before a login (TCP)': tcpPings,
  'PINGREQ of an open MQTT connection': mqttPings,
  'frames of 64 KB that cannot be read (MQTT)': unreadable,
  'a flood of datagrams (UDP)': datagrams,
  'tries of ids (TCP)': triedIds,
  'guesses of a secret (MQTT)': guesses,
  'pipelined GET /metrics (admin)': metrics,
  ...ID_ATTACKS,
  ...AUTO_ATTACKS,
  ...FRESH_ATTACKS,
  ...TAKEOVER_ATTACKS,
  ...IDENTITY_ATTACKS,
  ...TRUST_ATTACKS,
  ...ORACLE_ATTACKS,
  ...WORK_ATTACKS,
} satisfies Record<string, Attack>

async function futureTimes({ ports, known }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  let n = 0
  const next = () => avlDatagram(known[n % 4], 0x08, [{ time: Date.now() + 7_200_000 + n++ * 1000, ...PLACE }])
  await sendDatagrams(ports['udp/teltonika'], next, { cost, signal, everyMs: 20 })
}

async function spans(victim: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  const newest = Math.floor(Date.now() / 2_048_000) * 2_048_000
  await Promise.all(
    victim.known.map((imei) => {
      let n = 0
      const one = () => packet(255, () => newest - ((n += 1) % 3700) * 2_048_000 + (n % 2000) * 1000)
      // Several without waiting for an answer.
      const next = () => Buffer.concat(Array.from({ length: 7 }, one))
      return login(victim, imei, { cost, signal, next })
    }),
  )
}

async function oneSpan(victim: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  const from = Math.floor(Date.now() / 2_048_000) * 2_048_000 - 4_096_000
  const next = () => packet(255, () => from + Math.floor(Math.random() * 2048) * 1000, true)
  await login(victim, victim.known[4], { cost, signal, next })
}

async function tcpPings({ ports }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  await pour(ports['tcp/teltonika'], Buffer.alloc(65_536, 0xff), { cost, signal, perSecond: 1_300_000 })
}

async function mqttPings({ ports }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  const pings = Buffer.alloc(65_536, Buffer.of(0xc0, 0x00))
  await pour(ports.mqtt, pings, { cost, signal, perSecond: 1_300_000, first: mqttConnect('900000000000001', '') })
}

/** Each is kept as it came, since it may be read later. */
async function unreadable({ known, ports }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  const payload = Buffer.alloc(65_000, '[')
  await sideBySide(20, signal, async (index) => {
    const id = known[index % known.length]
    const frame = mqttPublish(`devices/${id}/fix`, payload)
    const socket = dial(ports.mqtt, cost)
    write(socket, mqttConnect(id, '', String(index)), cost)
    await once(socket, 'data', 1000)
    while (!signal.aborted && !socket.destroyed) {
      if (socket.writableLength < 8 * frame.length) write(socket, frame, cost)
      await sleep(1)
    }
    socket.destroy()
  })
}

/** 30,000 a second. */
async function datagrams({ ports }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  const junk = Buffer.from('000fcafe0133000f333536333037303432343431303133', 'hex')
  await sendDatagrams(ports['udp/teltonika'], () => junk, { cost, signal, atOnce: 300 })
}

async function triedIds({ ports }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  let id = 810_000_000_000_000
  await tryLogins(ports['tcp/teltonika'], cost, signal, () => avlLogin(String(id++)))
}

async function guesses({ guarded, ports }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  let guess = 0
  await tryLogins(ports.mqtt, cost, signal, () => mqttConnect(guarded.secret, String(guess++)))
}

/** Fifty at once, each on a connection of its own. */
async function tryLogins(port: number, cost: Cost, signal: AbortSignal, next: () => Buffer): Promise<void> {
  await sideBySide(50, signal, async () => {
    const socket = dial(port, cost)
    write(socket, next(), cost)
    await once(socket, 'data', 1000)
    socket.destroy()
  })
}

async function metrics({ ports }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  const request = `GET /metrics HTTP/1.1\r\nhost: ${HOST}\r\n\r\n`
  const pipeline = Buffer.from(request.repeat(Math.ceil(255_000 / request.length)))
  await sideBySide(8, signal, async () => {
    const socket = dial(ports.admin, cost)
    socket.on('data', (bytes) => (cost.received += bytes.length))
    write(socket, pipeline, cost)
    await once(socket, 'close', 3000)
    socket.destroy()
  })
}

/** Writes bytes at a rate on four connections; again if they are ended. */
async function pour(
  port: number,
  bytes: Buffer,
  { cost, signal, perSecond, first }: { cost: Cost; signal: AbortSignal; perSecond: number; first?: Buffer },
): Promise<void> {
  const pauseMs = (bytes.length * 4 * 1000) / perSecond
  await sideBySide(4, signal, async () => {
    const socket = dial(port, cost)
    if (first) {
      write(socket, first, cost)
      await once(socket, 'data', 1000)
    }
    while (!signal.aborted && !socket.destroyed) {
      // A connection that is not read keeps what is written: the attacker waits.
      if (socket.writableLength === 0) write(socket, bytes, cost)
      await sleep(pauseMs)
    }
    socket.destroy()
  })
}
