import { setTimeout as sleep } from 'node:timers/promises'
import { type Attack, type Cost, dial, once, sideBySide, type Victim, write } from './attacker-connections.ts'

/** Attacks on how parts of the gateway work together: finding out a protocol, and hiding secrets. */
export const FRESH_ATTACKS = {
  'a record of two protocols, then noise (auto)': twoProtocols,
  'frames full of quotation marks under a guarded id (auto)': quotationMarks,
} satisfies Record<string, Attack>

/** Galileo and Blackkite have the same records; neither goes on like this. */
const RECORD = Buffer.from('011500033836313233343536373839303132332012cd32660386 0001c3bfc3be'.replace(' ', ''), 'hex')

async function twoProtocols({ ports }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  await sideBySide(4, signal, async () => {
    const socket = dial(ports['tcp/auto'], cost)
    write(socket, RECORD, cost)
    await once(socket, 'close', 1000)
    socket.destroy()
  })
}

/** On four connections in the name of a device that has a secret, as many as are read. */
async function quotationMarks({ guarded, ports }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  const login = Buffer.from(`*HQ,${guarded.secret},V1,120000,A,5231.2000,N,01324.6000,E,0.00,0,010126,FFFFFFFF#`)
  const frame = Buffer.from(`*HQ,${guarded.secret},ZZ,${'"\\'.repeat(1900)}#`)
  await sideBySide(4, signal, async () => {
    const socket = dial(ports['tcp/auto'], cost)
    write(socket, login, cost)
    await sleep(1000)
    while (!signal.aborted && !socket.destroyed) {
      if (socket.writableLength < frame.length) write(socket, frame, cost)
      await sleep(5)
    }
    socket.destroy()
    await sleep(100)
  })
}
