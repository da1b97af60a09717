import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { avlDatagram, avlLogin } from '../support/encode.ts'
import { freePorts } from '../support/free-ports.ts'
import { pidsWith } from '../support/processes.ts'
import { run, temporaryDir } from '../support/running.ts'
import { serviceWithSockets } from '../support/service-manager.ts'

const ID = '356307042441013'
const CLI = fileURLToPath(new URL('../../src/cli/waybridge.mjs', import.meta.url))
const soon = { timeout: 60_000, interval: 20 }

it('a restart with sockets of the service manager refuses no connection and loses no datagram', async () => {
  const [port, admin, tracking] = await freePorts(3)
  const dir = await prepared(port, { admin, tracking })
  const service = serviceWithSockets(port, [process.execPath, CLI, 'start', '--config', dir])
  await expect.poll(() => hello(port), soon).toBe('answered')

  service.stop()
  await expect.poll(() => pidsWith(dir, 'gateway'), soon).toEqual([])
  const [later, answered] = [hello(port), datagramAnswered(port)]
  service.start()
  expect(await later).toBe('answered')
  expect(await answered).toBe(true)
})

it('a restart of the gateway without a service manager refuses no connection and loses no datagram', async () => {
  const [port, admin, tracking] = await freePorts(3)
  const dir = await prepared(port, { admin, tracking })
  const program = run([CLI, 'start', '--config', dir])
  onTestFinished(async () => {
    program.child.kill('SIGTERM')
    await program.ended
  })
  await expect.poll(() => hello(port), soon).toBe('answered')
  const [gateway] = pidsWith(dir, 'gateway')
  process.kill(gateway, 'SIGKILL')
  await expect.poll(() => pidsWith(dir, 'gateway').includes(gateway), soon).toBe(false)
  const [later, answered] = [hello(port), datagramAnswered(port)]
  expect([await later, await answered]).toEqual(['answered', true])
  expect(program.said()).not.toContain('Deprecation')
})

it('a socket address without a listener is refused with what to write', async () => {
  const [port, other, admin, tracking] = await freePorts(4)
  const dir = await prepared(other, { admin, tracking })
  const service = serviceWithSockets(port, [process.execPath, CLI, 'start', '--config', dir])
  await expect
    .poll(service.said, soon)
    .toContain(`has opened tcp 127.0.0.1:${port}, udp 127.0.0.1:${port}, and no listener`)
})

async function prepared(port: number, { admin, tracking }: { admin: number; tracking: number }): Promise<string> {
  const dir = await temporaryDir()
  const listener = `protocol: teltonika, port: ${port}, host: 127.0.0.1`
  await writeFile(
    join(dir, 'gateway.yaml'),
    `
data_dir: ${JSON.stringify(join(dir, 'data'))}
listeners: [{ transport: tcp, ${listener} }, { transport: udp, ${listener} }]
mqtt: { broker: null }
companies: [{ company_id: 7, apikey: a-key-for-this-test }]
tracking: { listen: { host: 127.0.0.1, port: ${tracking} } }
admin: { port: ${admin} }
`,
  )
  await writeFile(join(dir, 'devices.yaml'), `"${ID}": { company_id: 7, courier_id: 42, route_id: 1001 }\n`)
  return dir
}

/** Returns `answered`, or the code of the error that ended the connection before an answer. */
function hello(port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' }, () => socket.write(avlLogin(ID)))
    socket.on('data', () => {
      resolve('answered')
      socket.destroy()
    })
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(String(code)))
    socket.on('close', () => resolve('closed'))
  })
}

/** Sends a fix in one datagram, once. */
async function datagramAnswered(port: number): Promise<boolean> {
  const socket = createSocket('udp4')
  onTestFinished(() => void socket.close())
  const answer = once(socket, 'message')
  const record = { time: Date.now(), latitude: 52.52, longitude: 13.405 }
  socket.send(avlDatagram(ID, 0x08, [record]), port, '127.0.0.1')
  await answer
  return true
}
