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
import { mqttConnect } from './mqtt-packets.ts'

/** Attacks of somebody who knows the ids of vans, none of their secrets, and is in their network. */
export const TAKEOVER_ATTACKS = {
  'the client ids of vans (MQTT)': clientIds,
  'logins of vans from their own network (TCP)': logins,
  'wrong secrets of vans from their own network': wrongSecrets,
  'whether a van with a secret is connected': presence,
  'fixes minutes apart under the ids of vans (UDP)': minutesApart,
} satisfies Record<string, Attack>

/** Four CONNECT a second for each van, without its secret; each connection stays. */
async function clientIds({ ports, vans }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  await sideBySide(vans.length, signal, async (van) => {
    const socket = dial(ports.mqtt, cost)
    write(socket, mqttConnect(vans[van], ''), cost)
    setTimeout(() => socket.destroy(), STAYS_MS)
    await sleep(250)
  })
}

/** Eight logins a second for each van; each connection stays. */
async function logins({ ports, vans }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  await sideBySide(vans.length, signal, async (van) => {
    const socket = dial(ports['tcp/teltonika'], cost)
    write(socket, avlLogin(vans[van]), cost)
    setTimeout(() => socket.destroy(), STAYS_MS)
    await sleep(125)
  })
}

/** Five wrong secrets a second for each van that has one, over HTTP and over MQTT. */
async function wrongSecrets({ ports, secretVans }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  let guess = 0
  await sideBySide(2 * secretVans.length, signal, async (index) => {
    const van = secretVans[index % secretVans.length]
    const isHttp = index < secretVans.length
    const socket = dial(isHttp ? ports['http/osmand'] : ports.mqtt, cost)
    const query = `/?id=${van}&token=guess-${guess++}&lat=48.1&lon=11.5`
    const request = Buffer.from(`POST ${query} HTTP/1.1\r\nhost: ${HOST}\r\ncontent-length: 0\r\n\r\n`)
    write(socket, isHttp ? request : mqttConnect(van, `guess-${guess}`), cost)
    setTimeout(() => socket.destroy(), 1000)
    await sleep(200)
  })
}

/** Holds as many connections of an id as one device may have, and looks whether one is ended for that of the van. */
async function presence(victim: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  const { guarded, ports, secretVans } = victim
  const stays = async (id: string) => {
    const sockets = Array.from({ length: MOST_OF_A_DEVICE }, (_, index) => {
      const socket = dial(ports.mqtt, cost)
      write(socket, mqttConnect(id, '', String(index)), cost)
      return socket
    })
    await Promise.all(sockets.map((socket) => once(socket, 'data', 1000)))
    await sleep(500)
    const open = sockets.filter((socket) => !socket.destroyed && socket.readable).length
    for (const socket of sockets) socket.destroy()
    return open
  }
  while (!signal.aborted) {
    const silent = await stays(guarded.secret)
    for (const van of secretVans) {
      const connected = await stays(van)
      if (connected !== silent && cost.told.length === 0)
        cost.told.push(
          `of ${MOST_OF_A_DEVICE} connections ${connected} stay beside that of a van, ${silent} without one`,
        )
    }
  }
}

/** Datagrams whose six fixes seem to stay elsewhere for ten minutes, one for each van in four seconds. */
async function minutesApart({ ports, vans }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  let n = 0
  const next = () => {
    const from = Date.now() - 5 * 150_000
    const fixes = Array.from({ length: 6 }, (_, index) => ({ time: from + index * 150_000, ...PLACE }))
    return avlDatagram(vans[n++ % vans.length], 0x08, fixes)
  }
  await sendDatagrams(ports['udp/teltonika'], next, { cost, signal, everyMs: 4000 / vans.length })
}

/** `limits.max_connections_per_device`, unless it is set. */
const MOST_OF_A_DEVICE = 4
const STAYS_MS = 20_000
