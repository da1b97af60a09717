import { createSocket, type Socket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import type { DatagramSpeech } from '../speak/index.ts'
import { createExchange } from './exchange.ts'
import { type Line, type LineEnd, reasonOf } from './line.ts'

/** Datagrams; one that is lost, or its answer, comes again under another number. */
export function udpLine(speech: DatagramSpeech, end: LineEnd): Line {
  const exchange = createExchange(end.answerMs)
  let socket: Socket | undefined
  let count = 0

  function open(): Socket {
    const opened = createSocket(isIPv6(end.host) ? 'udp6' : 'udp4')
    opened.on('message', exchange.hear)
    opened.on('error', (error) => exchange.fail(reasonOf(error, end)))
    return opened
  }

  return {
    maxFixes: speech.maxFixes,
    deliver(fixes) {
      const current = (socket ??= open())
      return exchange.send(speech.packet(fixes, { id: end.id, serial: ++count }), (bytes) =>
        current.send(bytes, end.port, end.host, (error) => error && exchange.fail(reasonOf(error, end))),
      )
    },
    close() {
      exchange.fail('connection closed')
      socket?.close()
      socket = undefined
    },
  }
}
