import { connect, type Socket } from 'node:net'
import { cut } from '../../../protocols/kit/index.ts'
import type { Packet, StreamSpeech } from '../speak/index.ts'
import { createExchange, type Exchange } from './exchange.ts'
import { addressOf, type Line, type LineEnd, reasonOf } from './line.ts'

interface Connection {
  readonly socket: Socket
  readonly exchange: Exchange
  /** Packets sent on it. */
  count: number
}

/** A connection that is kept; after a fault a new one, with its login, as an answer that comes late names no packet. */
export function tcpLine(speech: StreamSpeech, end: LineEnd): Line {
  let connection: Connection | undefined

  async function connected(): Promise<Connection> {
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

function open({ answers }: StreamSpeech, end: LineEnd): Connection {
  const exchange = createExchange(end.answerMs)
  const socket = connect({ host: end.host, port: end.port, noDelay: true })
  let rest: Buffer = Buffer.alloc(0)
  socket.on('data', (bytes: Buffer) => {
    const heard = cut(rest.length === 0 ? bytes : Buffer.concat([rest, bytes]), answers)
    rest = heard.rest
    for (const answer of heard.frames) exchange.hear(answer)
  })
  socket.on('error', (error) => exchange.fail(reasonOf(error, end)))
  socket.on('close', () => exchange.fail(`connection closed by ${addressOf(end)}`))
  return { socket, exchange, count: 0 }
}

/** What is written before the connection is made leaves with it. */
function send({ exchange, socket }: Connection, packet: Packet): Promise<void> {
  return exchange.send(packet, (bytes) => socket.write(bytes))
}
