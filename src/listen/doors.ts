import type { Socket } from 'node:net'
import type { DeviceSession } from '../ingest/device.ts'
import { metrics } from '../observe/metrics.ts'
import type { Admission } from './admission.ts'
import type { Holder } from './held.ts'
import type { Limits, Shared } from './listener.ts'

/** Where sockets come in: as many as may, counted while they are open. */
export interface Door {
  /** Lets a socket in, or destroys it; `left` is called when one that was let in is over. */
  enter(socket: Socket, left?: () => void): boolean
  /** Lets nobody in any more. */
  close(): void
}

export function createDoor(transport: 'tcp' | 'http' | 'mqtt', admission: Admission): Door {
  const open = metrics.connections.labels(transport)
  let closed = false
  return {
    enter(socket, left) {
      const address = socket.remoteAddress ?? ''
      if (closed || !admission.enter(address)) {
        socket.destroy()
        return false
      }
      open.inc()
      socket.on('close', () => {
        open.dec()
        admission.leave(address)
        left?.()
      })
      return true
    },
    close: () => void (closed = true),
  }
}

/** A connection on which a device stays. */
export interface Guest extends Holder {
  readonly session: DeviceSession
  /** Since when it could have said who it is; ms UTC, moved on by the time in which it was not read. */
  askedAt: number
  /** When it last said something good; likewise. */
  heardAt: number
  /** After how long a silence it ends, ms. */
  readonly silenceMs: number
  /** Whether it is not read because what it said before is being stored. */
  readonly busy?: boolean
  /** Stops and starts reading it, under pressure and after it. */
  pause(): void
  resume(): void
  end(reason: string): void
  /** Called when it is over. */
  left(): void
}

/** The connections of one listener. */
export interface Doors<G> {
  readonly guests: ReadonlySet<G>
  /** Lets a socket in, as the guest that `guestOf` makes of it, or destroys it. */
  enter(socket: Socket, guestOf: (remote: string) => G): G | undefined
  /** Lets nobody in any more, and sees no longer after those who are. */
  close(): void
}

/** Nobody is read under pressure; who never says who he is, or says nothing for long, is ended. */
export function createDoors<G extends Guest>(transport: 'tcp' | 'mqtt', shared: Shared): Doors<G> {
  const { admission, limits, pressure } = shared
  const door = createDoor(transport, admission)
  const guests = new Set<G>()
  let closed = false

  function leave(guest: G): void {
    guests.delete(guest)
    pressure.hold(guest, 0)
    if (closed) guest.session.ended ??= 'shutdown'
    guest.left()
  }

  pressure.join({
    pause: () => guests.forEach((guest) => guest.pause()),
    resume: () => closed || guests.forEach((guest) => guest.resume()),
  })
  const sweeper = everySecond((passed) => sweep(guests, passed, { limits, deaf: pressure.high }))
  return {
    guests,
    enter(socket, guestOf) {
      if (!door.enter(socket, () => leave(guest))) return undefined
      const guest = guestOf(`${socket.remoteAddress}:${socket.remotePort}`)
      guests.add(guest)
      if (pressure.high) guest.pause()
      return guest
    },
    close() {
      closed = true
      door.close()
      clearInterval(sweeper)
    },
  }
}

/** `passed`: ms since it was done before. */
function everySecond(act: (passed: number) => void): NodeJS.Timeout {
  let before = Date.now()
  return setInterval(() => {
    const now = Date.now()
    act(now - before)
    before = now
  }, 1000)
}

/** Time in which we did not read is nobody's silence. */
function sweep(guests: Iterable<Guest>, passed: number, { limits, deaf }: { limits: Limits; deaf: boolean }): void {
  const now = Date.now()
  for (const guest of guests) {
    if (deaf || guest.busy) {
      guest.askedAt += passed
      guest.heardAt += passed
    } else if (guest.session.device === undefined && now - guest.askedAt > limits.identify_timeout)
      guest.end('not_identified')
    else if (now - guest.heardAt > guest.silenceMs) guest.end('idle')
  }
}
