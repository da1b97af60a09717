import { type ChildProcess, spawn } from 'node:child_process'
import { onTestFinished } from 'vitest'
import { endChild } from './processes.ts'

/** A service that is run with sockets which outlive it, as systemd does with a `.socket` unit. */
export interface ActivatedService {
  /** What the service has printed. */
  readonly said: () => string
  /** Ends the service by SIGTERM; it is started again by `start`. */
  stop(): void
  start(): void
}

/** Runs a command with a socket for TCP and one for UDP on a port of 127.0.0.1. Python, since Node cannot give away a socket for UDP. */
export function serviceWithSockets(port: number, command: readonly string[]): ActivatedService {
  const manager: ChildProcess = spawn('python3', ['-u', '-c', MANAGER, String(port), ...command], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  onTestFinished(async () => {
    await endChild(manager)
  })
  let said = ''
  for (const stream of [manager.stdout, manager.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (said += text))
  return {
    said: () => said,
    stop: () => void manager.kill('SIGHUP'),
    start: () => void manager.stdin?.write('\n'),
  }
}

const MANAGER = `
import os, signal, socket, sys
sockets = [socket.socket(type=socket.SOCK_STREAM), socket.socket(type=socket.SOCK_DGRAM)]
for each in sockets: each.bind(('127.0.0.1', int(sys.argv[1])))
sockets[0].listen(4096)
copies = [os.dup(os.dup(each.fileno())) for each in sockets]
again = True
def end(number, frame):
    global again
    again = number == signal.SIGHUP
    os.kill(service, signal.SIGTERM)
while again:
    again = False
    service = os.fork()
    if service == 0:
        for at, copy in enumerate(copies): os.dup2(copy, 3 + at, inheritable=True)
        os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(copies)))
        os.execvp(sys.argv[2], sys.argv[2:])
    signal.signal(signal.SIGHUP, end)
    signal.signal(signal.SIGTERM, end)
    os.waitpid(service, 0)
    if again: sys.stdin.readline()
`
