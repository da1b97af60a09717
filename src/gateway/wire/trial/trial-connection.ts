import type { Socket } from 'node:net'
import { type Origin, sessionOf } from '../../admit/acceptor.ts'
import { deviceNamedIn } from './first-device.ts'
import { LEFT_MS, NAMED_MS, reset } from './old-server.ts'
import { type CopyContext, StreamCopy } from './stream-copy.ts'

type ServeOwn = (socket: Socket, origin: Origin) => void

/** The connections of a listener to an old server. `serve` gets those of devices that we answer ourselves. */
export class TrialConnections {
  readonly #context: CopyContext
  readonly #serve: ServeOwn
  readonly #open = new Set<Socket>()
  #isClosing = false

  constructor(context: CopyContext, serve: ServeOwn) {
    this.#context = context
    this.#serve = serve
  }

  add(socket: Socket, origin: Origin): void {
    socket.setNoDelay(true)
    this.#keep(socket)
    if (this.#context.trial.hasSwitched) this.#hold(socket, origin)
    else this.#pass(socket, origin)
  }

  /** Ends all connections: trackers open others. */
  close(): void {
    this.#isClosing = true
    for (const socket of this.#open) socket.destroy()
  }

  /**
   * Keeps what a tracker sends until its device is known. What does not name one at once is the old server's: it may have to answer
   * first.
   */
  #hold(socket: Socket, origin: Origin): void {
    const { trial } = this.#context
    let held: Buffer = Buffer.alloc(0)
    let isNamed = false
    const release = () => {
      clearTimeout(timer)
      socket.off('data', receive).off('end', pass).off('error', destroy).off('close', release)
    }
    const pass = () => {
      release()
      this.#pass(socket, origin, held)
    }
    const receive = (bytes: Buffer) => {
      if (!isNamed) timer = restarted(timer, pass, NAMED_MS)
      isNamed = true
      held = Buffer.concat([held, bytes])
      const device = deviceNamedIn(held, 'tcp', this.#context)
      const entry = device === undefined ? undefined : trial.switched(device)
      if (!entry) {
        if (device !== undefined || held.length > MOST_HELD) pass()
        return
      }
      release()
      socket.pause()
      socket.unshift(held)
      this.#open.delete(socket)
      if (entry.feed) this.#feed(socket)
      this.#serve(socket, origin)
      socket.resume()
    }
    let timer = setTimeout(pass, SILENT_MS)
    socket.on('data', receive).on('end', pass).on('error', destroy).on('close', release)
  }

  /** Passes on what both ends send, unchanged. `first`: what the tracker has sent so far. */
  #pass(tracker: Socket, origin: Origin, first?: Buffer): void {
    const { port, trial } = this.#context
    const copy = new StreamCopy(this.#context, sessionOf('tcp', origin, { port, trial }))
    const old = trial.server.connect()
    const byOld = () => tracker.readableEnded || copy.session.endFor('old_server')
    this.#keep(old)
    old.on('end', byOld).on('error', byOld)
    passOn(tracker, old, (bytes) => copy.sent(bytes))
    passOn(old, tracker, (bytes) => copy.heard(bytes))
    tracker.on('close', () => {
      if (this.#isClosing) copy.session.endFor('shutdown')
      copy.ended()
      // The connection is no longer needed, and the system may take minutes to give it up.
      if (old.connecting) old.destroy()
    })
    if (first?.length) {
      old.write(first)
      copy.sent(first)
    }
    if (tracker.readableEnded) old.end()
  }

  /**
   * Sends the tracker's data to the old server too, and drops its answers. If the old server falls behind, it gets nothing
   * more.
   */
  #feed(tracker: Socket): void {
    const { feeding, server } = this.#context.trial
    const old = server.connect({ isFed: true })
    this.#keep(old)
    old.on('error', () => {}).on('end', () => old.end())
    old.resume()
    tracker.on('data', (bytes: Buffer) => {
      if (old.writableLength > MOST_UNSENT || feeding.isFull) old.destroy()
      if (old.destroyed || !old.writable) return
      feeding.take(bytes.length)
      old.write(bytes, () => feeding.give(bytes.length))
    })
    tracker.on('close', () => {
      old.end()
      old.setTimeout(LEFT_MS, () => old.destroy())
    })
  }

  #keep(socket: Socket): void {
    this.#open.add(socket)
    socket.on('close', () => this.#open.delete(socket))
  }
}

/** Passes on what one end sends to the other: bytes, its end, or a reset. `copy` gets the bytes once they are sent. */
function passOn(from: Socket, to: Socket, copy: (bytes: Buffer) => void): void {
  from.on('data', (bytes: Buffer) => {
    if (!to.writable) return
    if (!to.write(bytes)) {
      from.pause()
      to.once('drain', () => from.resume())
    }
    copy(bytes)
  })
  from.on('end', () => to.end())
  from.on('error', () => reset(to))
  from.on('close', () => {
    if (!to.destroyed && !to.writableEnded) to.end()
  })
}

function destroy(this: Socket): void {
  this.destroy()
}

function restarted(timer: NodeJS.Timeout, done: () => void, ms: number): NodeJS.Timeout {
  clearTimeout(timer)
  return setTimeout(done, ms)
}

/** How long to wait until a tracker has sent something. */
const SILENT_MS = 10_000
const MOST_HELD = 4096
/** The most unsent bytes of one connection to an old server whose answers are dropped. */
const MOST_UNSENT = 256 << 10
