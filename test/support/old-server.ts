import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  cut,
  decodeFrame,
  type Message,
  noSettings,
  type Protocol,
  repliesOf,
  type Session,
} from '../../protocols/kit/index.ts'
import { listening } from './listening.ts'

interface OldServerOptions {
  /** How long it takes to answer, ms. */
  readonly delayMs?: number
  /** What it answers in place of an answer; undefined: nothing. */
  readonly answer?: (answer: Buffer, frame: Buffer) => Buffer | undefined
}

/** A server as a fleet has it before: it answers as our decoders say, and may be slow, otherwise minded, reset or restarted. */
export interface OldServer {
  readonly port: number
  /** What it has got on each connection, in their order. */
  readonly got: readonly { readonly bytes: Buffer; readonly isOver: boolean; readonly isReset: boolean }[]
  /** The fixes that it has got in all. */
  readonly fixes: number
  readonly sockets: ReadonlySet<Socket>
  /** Cuts all connections. */
  cut(): void
  /** Listens no more, and cuts all connections. */
  stop(): Promise<void>
  /** Listens again on the same port. */
  start(): Promise<void>
}

export async function openOldServer(protocol: Protocol, options: OldServerOptions = {}): Promise<OldServer> {
  const { answer = (bytes) => bytes, delayMs = 0 } = options
  const got: { bytes: Buffer; isOver: boolean; isReset: boolean }[] = []
  const sockets = new Set<Socket>()
  let server: Server
  let port = 0
  let fixes = 0

  function serve(socket: Socket): void {
    const session: Session = { settingsOf: noSettings, transport: 'tcp', now: 0, lenient: false }
    const own = { bytes: Buffer.alloc(0), isOver: false, isReset: false }
    let rest: Buffer = Buffer.alloc(0)
    let turn = Promise.resolve()
    got.push(own)
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('data', (bytes: Buffer) => {
      own.bytes = Buffer.concat([own.bytes, bytes])
      const { frames, ...left } = cut(Buffer.concat([rest, bytes]), protocol.tcp!.frame, session)
      rest = left.rest
      for (const frame of frames) {
        const reply = replyTo(frame, session)
        turn = answerAfter(turn, socket, reply)
      }
    })
    socket.on('end', () => {
      own.isOver = true
      void turn.finally(() => socket.end())
    })
    socket.on('error', () => (own.isReset = true))
    socket.on('close', () => sockets.delete(socket))
  }

  async function answerAfter(turn: Promise<void>, socket: Socket, reply: Buffer | undefined): Promise<void> {
    await turn
    if (delayMs > 0) await sleep(delayMs)
    if (reply && socket.writable) socket.write(reply)
  }

  function replyTo(frame: Buffer, session: Session): Buffer | undefined {
    session.now = Date.now()
    let message: Message
    try {
      message = decodeFrame(protocol, frame, session)
    } catch {
      return undefined
    }
    session.device = message.device ?? session.device
    fixes += message.fixes?.length ?? 0
    const replies = Buffer.concat(repliesOf(message.reply))
    return replies.length > 0 ? answer(replies, frame) : undefined
  }

  function cutAll(): void {
    for (const socket of sockets) socket.resetAndDestroy()
  }

  async function start(): Promise<void> {
    server = createServer({ allowHalfOpen: true }, serve)
    port = await listening(server, port)
  }

  await start()
  return {
    got,
    sockets,
    get port() {
      return port
    },
    get fixes() {
      return fixes
    },
    cut: cutAll,
    async stop() {
      const closed = once(server, 'close')
      server.close()
      cutAll()
      await closed
    },
    start,
  }
}

/** The same for datagrams; each is a frame. */
export async function openOldDatagrams(answer: (datagram: string) => string | undefined) {
  const socket = createSocket('udp4')
  const got: string[] = []
  socket.on('message', (datagram, { address, port }) => {
    got.push(datagram.toString())
    const reply = answer(datagram.toString())
    if (reply !== undefined) socket.send(reply, port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  let isOpen = true
  const close = () => {
    if (isOpen) socket.close()
    isOpen = false
  }
  return { port: socket.address().port, got, close }
}
