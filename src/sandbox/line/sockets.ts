import { createSocket, type Socket as DatagramSocket } from 'node:dgram'
import { connect, isIPv6, type Socket } from 'node:net'
import { cut } from '../../../protocols/kit/index.ts'
import { hostPort } from '../../domain/addresses.ts'
import type { DatagramSpeech, Packet, StreamSpeech } from '../speak/index.ts'
import { createExchange, type LineEnd, type PacketExchange, faultReason, type VanLine } from './line.ts'

interface VanSocket {
  readonly socket: Socket
  readonly exchange: PacketExchange
  /** How many packets were sent on it. */
  count: number
}

/**
 * A lasting TCP connection. After a fault it is replaced, with a new login, because a late answer does not tell which packet
 * it is for.
 */
export function tcpLine(speech: StreamSpeech, end: LineEnd): VanLine {
  let connection: VanSocket | undefined

  async function connected(): Promise<VanSocket> {
    if (connection?.socket.writable) return connection
    connection = open(speech, end)
    if (speech.login) await send(connection, speech.login(end.id))
    return connection
  }

  function close(): void {
    connection?.exchange.fail('connection closed')
    connection?.socket.destroy()
    connection = undefined
  }

  return {
    maxFixes: speech.maxFixes,
    async deliver(fixes) {
      try {
        const current = await connected()
        await send(current, speech.packet(fixes, { id: end.id, serial: ++current.count }))
      } catch (fault) {
        close()
        throw fault
      }
    },
    close,
  }
}

function open({ answers }: StreamSpeech, end: LineEnd): VanSocket {
  const exchange = createExchange(end.answerMs)
  const socket = connect({ host: end.host, port: end.port, noDelay: true })
  let rest: Buffer = Buffer.alloc(0)
  socket.on('data', (bytes: Buffer) => {
    const received = cut(rest.length === 0 ? bytes : Buffer.concat([rest, bytes]), answers, undefined)
    rest = received.rest
    for (const answer of received.frames) exchange.receive(answer)
  })
  socket.on('error', (error) => exchange.fail(faultReason(error, end)))
  socket.on('close', () => exchange.fail(`connection closed by ${hostPort(end)}`))
  return { socket, exchange, count: 0 }
}

/** Bytes that are written before the connection is made are sent with it. */
function send({ exchange, socket }: VanSocket, packet: Packet): Promise<void> {
  return exchange.send(packet, (bytes) => socket.write(bytes, (error) => error ?? exchange.written(bytes)))
}

/** Datagrams. Where a datagram or its answer is lost, the fixes are sent again under another number. */
export function udpLine(speech: DatagramSpeech, end: LineEnd): VanLine {
  const exchange = createExchange(end.answerMs)
  let socket: DatagramSocket | undefined
  let count = 0

  function openSocket(): DatagramSocket {
    const opened = createSocket(isIPv6(end.host) ? 'udp6' : 'udp4')
    opened.on('message', exchange.receive)
    opened.on('error', (error) => exchange.fail(faultReason(error, end)))
    return opened
  }

  return {
    maxFixes: speech.maxFixes,
    deliver(fixes) {
      const current = (socket ??= openSocket())
      return exchange.send(speech.packet(fixes, { id: end.id, serial: ++count }), (bytes) =>
        current.send(bytes, end.port, end.host, (error) => error && exchange.fail(faultReason(error, end))),
      )
    },
    close() {
      exchange.fail('connection closed')
      socket?.close()
      socket = undefined
    },
  }
}
