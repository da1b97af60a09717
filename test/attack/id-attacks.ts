import { setTimeout as sleep } from 'node:timers/promises'
import { avlDatagram, avlLogin, avlPacket } from '../support/encode.ts'
import {
  type Attack,
  type Cost,
  dial,
  HOST,
  hold,
  once,
  PLACE,
  sendDatagrams,
  sideBySide,
  type Victim,
  write,
} from './attacker-connections.ts'

export const DISPLACEMENT = 'datagrams against held fixes (UDP)'
/** Attacks with ids that are invented, or that somebody has read on a tracker. */
export const ID_ATTACKS = {
  'invented ids from 24 networks (TCP)': inventedIds,
  'the same, with future times (TCP)': inventedIdsAhead,
  [DISPLACEMENT]: displace,
  'connections of one known id (TCP)': connections,
  'connections under the ids of vans (TCP)': evict,
  'fixes of many spans under the ids of vans (UDP)': spansOfVans,
} satisfies Record<string, Attack>

async function inventedIds(victim: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  await invent(victim, { cost, signal, first: 800_000_000_000_000, aheadMs: 0 })
}

async function inventedIdsAhead(victim: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  await invent(victim, { cost, signal, first: 801_000_000_000_000, aheadMs: 7 * 86_400_000 })
}

/** Connections from addresses of 24 networks of loopback; each id sends as many fixes as it may. */
async function invent(
  victim: Victim,
  { cost, signal, first, aheadMs }: { cost: Cost; signal: AbortSignal; first: number; aheadMs: number },
): Promise<void> {
  let id = first
  const networks = Array.from({ length: 24 }, (_, index) => `127.1.${index}.1`)
  await sideBySide(networks.length, signal, async (network) => {
    const socket = dial(victim.ports['tcp/teltonika'], cost, networks[network])
    write(socket, avlLogin(String(id++)), cost)
    await once(socket, 'data', 2000)
    for (let n = 0; n < 8 && !socket.destroyed; n++) {
      const fixes = packet(255, (index) => Date.now() + aheadMs - (n * 255 + index) * 1000)
      write(socket, fixes, cost)
      await once(socket, 'data', 2000)
    }
    socket.destroy()
  })
}

/** 100 fixes of a device without a route are acknowledged; then datagrams in its name bring more than may be held. */
async function displace(victim: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  const { ports, routeless } = victim
  const before = new AbortController()
  const first = packet(HELD_FIXES, (index) => Date.now() - 86_000_000 + index * 1000)
  await login({ ports }, routeless, { cost, signal: before.signal, next: () => (before.abort(), first) })
  let time = Date.now() - 80_000_000
  const next = () => {
    const fixes = Array.from({ length: 40 }, () => ({ time: (time += 500), ...PLACE }))
    return avlDatagram(routeless, 0x08, fixes)
  }
  await sendDatagrams(ports['udp/teltonika'], next, { cost, signal, atOnce: 4 })
}

async function connections(victim: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  await crowd(victim, { cost, signal, ids: victim.known.slice(5, 6), from: () => HOST })
}

/** Under each id from twenty other networks than that of the vans, so that no network has more connections than the van. */
async function evict({ ports, vans }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  let network = 0
  await sideBySide(vans.length, signal, async (van) => {
    const socket = dial(ports['tcp/teltonika'], cost, `127.2.${(network += 7) % 20}.1`)
    write(socket, avlLogin(vans[van]), cost)
    setTimeout(() => socket.destroy(), 5000)
    await once(socket, 'data', 1000)
    write(socket, packet(1, Date.now), cost)
    await sleep(50)
  })
}

/** Keeps up to 4,000 connections of ids. */
async function crowd(
  { ports }: Victim,
  { cost, signal, ids, from }: { cost: Cost; signal: AbortSignal; ids: readonly string[]; from(n: number): string },
): Promise<void> {
  await hold({ signal, most: 4000 }, (index) => {
    const socket = dial(ports['tcp/teltonika'], cost, from(index))
    write(socket, avlLogin(ids[index % ids.length]), cost)
    return socket
  })
}

/** 4,000 datagrams a second, each with twenty fixes 2,048 s apart. */
async function spansOfVans({ ports, vans }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  let n = 0
  const next = () => {
    const time = Date.now() - (n % 2000) * 1000
    const place = { ...PLACE, latitude: (n % 800) / 10 }
    const fixes = Array.from({ length: 20 }, (_, index) => ({ time: time - index * 2_048_000, ...place }))
    return avlDatagram(vans[n++ % vans.length], 0x08, fixes)
  }
  await sendDatagrams(ports['udp/teltonika'], next, { cost, signal, atOnce: 40 })
}

/** Logs in, and sends packets as fast as they are answered; again after the connection was ended. */
export async function login(
  { ports }: Pick<Victim, 'ports'>,
  imei: string,
  { cost, signal, next }: { cost: Cost; signal: AbortSignal; next: () => Buffer },
): Promise<void> {
  while (!signal.aborted) {
    const socket = dial(ports['tcp/teltonika'], cost)
    write(socket, avlLogin(imei), cost)
    await once(socket, 'data', 2000)
    while (!signal.aborted && !socket.destroyed && socket.writable) {
      write(socket, next(), cost)
      await once(socket, 'data', 5000)
    }
    socket.destroy()
    await sleep(50)
  }
}

export function packet(size: number, time: (index: number) => number, isScattered = false): Buffer {
  const records = Array.from({ length: size }, (_, index) => ({
    time: time(index),
    ...PLACE,
    latitude: isScattered ? Math.random() * 80 : PLACE.latitude,
  }))
  return avlPacket(0x08, records)
}

/** Of the device without a route, over a connection. */
export const HELD_FIXES = 100
